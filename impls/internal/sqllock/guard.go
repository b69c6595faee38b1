package sqllock

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// guard asks now and then whether the connection of a lock still lives, since a
// holder is not told when the server, or the network, has given it up. It asks on
// that very connection, every third of a TTL. One that has not answered for a TTL
// is closed and its lock is declared lost; the server may know nothing of that.
type guard struct {
	lease *lb.Lease
	rest  func()             // ends the waiting for the next question
	abort context.CancelFunc // ends a question under way, and so the connection
	done  chan struct{}
	dead  bool // set before done is closed
}

func watch(env *lb.Env, l *Link, lease *lb.Lease) *guard {
	asking, abort := context.WithCancel(context.Background())
	resting, wake := context.WithCancel(lb.As(asking, lb.Renewal))
	g := &guard{lease: lease, abort: abort, done: make(chan struct{})}
	const wait = "ping"
	// Most locks are given back before the first question.
	spare := env.After(asking, lb.Renewal, lease.Request, wait, env.TTL/3, func(asking context.Context) {
		defer close(g.done)
		for resting.Err() == nil {
			if err := ping(asking, env, l, lease.Request); err != nil {
				g.dead = true
				lease.Lose("the connection that the lock is tied to does not answer: " + err.Error())
				return
			}
			_ = env.Sleep(resting, lease.Request, wait, env.TTL/3)
		}
	})
	g.rest = func() {
		if spare() {
			close(g.done)
		}
		wake()
	}
	return g
}

func ping(ctx context.Context, env *lb.Env, l *Link, req lb.Request) error {
	return env.Send(ctx, req, "ping", func(ctx context.Context) error {
		ctx, cancel := env.WithTimeout(ctx, env.TTL)
		defer cancel()
		return l.PingContext(ctx)
	})
}

// stop ends the questions and reports whether the connection is known to live. It
// lets one that is under way be answered until ctx ends.
func (g *guard) stop(ctx context.Context) bool {
	defer g.abort()
	g.rest()
	select {
	case <-g.done:
	case <-ctx.Done():
		g.abort()
		<-g.done
	}
	return !g.dead
}
