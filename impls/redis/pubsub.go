package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

// attempt is one try of an algorithm whose waiters are woken. Where it says
// ErrHeld, it also says how long the waiter need not ask again by itself: that
// is when the dead, who publish nothing, will have lost the lock.
type attempt func(context.Context) (lease *lb.Lease, wait time.Duration, err error)

// listener is a session that can wait for messages. All its waits share one
// connection, which is made for the first.
type listener struct {
	session
	sub *redis.PubSub
	in  <-chan any
}

// await calls try until it no longer says ErrHeld: after every message on the
// channel, and after the wait that try asked for. A subscription that is
// confirmed counts as a message, since what was published before it is missed;
// so does one that comes back after its connection broke.
func (l *listener) await(ctx context.Context, req lb.Request, channel string, try attempt) (*lb.Lease, error) {
	lease, _, err := try(ctx)
	if !errors.Is(err, lb.ErrHeld) || req.Try {
		return lease, err
	}
	if err := l.subscribe(ctx, req, channel); err != nil {
		l.hangUp()
		return nil, compose.NoEffect(err)
	}
	for wait := l.env.TTL; ; {
		if err := l.env.Wait(ctx, "release", req, func(ctx context.Context) error {
			return l.wakeUp(ctx, wait)
		}); err != nil {
			l.hangUp()
			return nil, compose.NoEffect(err)
		}
		if lease, wait, err = try(ctx); errors.Is(err, lb.ErrHeld) {
			continue
		}
		if err != nil || l.sub.Unsubscribe(ctx, channel) != nil {
			l.hangUp()
		}
		return lease, err
	}
}

func (l *listener) subscribe(ctx context.Context, req lb.Request, channel string) error {
	if l.sub == nil {
		l.sub = l.rdb.Subscribe(ctx)
		l.in = l.sub.ChannelWithSubscriptions()
	}
	for len(l.in) > 0 { // what came too late for the wait before
		<-l.in
	}
	if err := l.env.Step(ctx, "before-subscribe", req); err != nil {
		return err
	}
	if err := l.sub.Subscribe(ctx, channel); err != nil {
		return fmt.Errorf("redis: SUBSCRIBE: %w", err)
	}
	return l.env.Step(ctx, "after-subscribe", req)
}

// hangUp gives up the connection, whose state is not known. It does not wait for
// the driver, which may be trying to bring that connection back.
func (l *listener) hangUp() {
	if l.sub != nil {
		go l.sub.Close() //nolint:errcheck // nobody is left to tell
		l.sub = nil
	}
}

// wakeUp returns after a message or after d.
func (l *listener) wakeUp(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	elapsed := make(chan error, 1)
	go func() { elapsed <- l.env.Clock.Sleep(ctx, d) }()
	for {
		select {
		case msg := <-l.in:
			if s, ok := msg.(*redis.Subscription); ok && s.Kind == "unsubscribe" {
				continue // the end of the wait before
			}
			return nil
		case err := <-elapsed:
			return err
		}
	}
}

// Close ends the subscriptions, too.
func (l *listener) Close() error {
	l.hangUp()
	return l.session.Close()
}

// untilFree is how long a lease lasts of which a script said that n milliseconds
// are left. A key that never expires is nothing that these algorithms write, but
// no reason to wait for ever either.
func (s session) untilFree(n int64) time.Duration {
	if n < 0 {
		return s.env.TTL
	}
	return time.Duration(n+1) * time.Millisecond // Redis rounds down
}
