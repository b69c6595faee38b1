package redis

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// onOneServer is an algorithm with another client, whose connections are made otherwise,
// by a way that knows one server only.
func onOneServer(of lb.Impl, how string, change func(*redis.Options), open func(session) lb.Client) lb.Impl {
	return alone(mutate(of, how, func(s session) lb.Client { return open(s.redial(change)) }))
}

// alone is an algorithm on one server, whom no other follows.
func alone(of lb.Impl) lb.Impl {
	a := of.(algorithm)
	a.info.Topologies = oneServer[:1]
	return a
}

// redial is the session with other options for its connections.
func (s session) redial(change func(*redis.Options)) session {
	o := *s.nodes[0].Options()
	o.MaxRetries, o.DialerRetries = -1, 1 // a client has made of -1 what means something else to the next
	change(&o)
	_ = s.Close()
	s.nodes = []*redis.Client{redis.NewClient(&o)}
	s.rdb = s.nodes[0]
	return s
}

// patient waits for an answer for longer than a lease lasts, as drivers do by default: 3 s
// here, and people's leases are often shorter than that.
func patient(how string, open func(session) lb.Client) lb.Impl {
	return onOneServer(SetPXLua(), how, func(o *redis.Options) { o.ReadTimeout *= 3 }, open)
}

// fromAnswer counts its lease from the answer, as everybody does who looks at the clock
// when the call has returned: the server counts from the request, and the answer may
// have been on its way for most of the lease. The clock is read before anybody can stop
// the client, so that only a slow network gives it away.
type fromAnswer struct{ setPXLua }

func (c fromAnswer) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		var answered lb.Reading
		_, err := ask(ctx, c.session, req, "set", func(ctx context.Context) (bool, error) {
			return c.rdb.SetNX(ctx, req.Lock, req.Owner, c.env.TTL).Result()
		}, func(set bool) error {
			answered = c.env.Clock.Mono()
			return taken(set)
		})
		if err != nil {
			return nil, redisconn.Refused(err)
		}
		return c.env.Grant(req, 0, c.env.Validity(answered)), nil
	})
}

// insistent releases what it holds by its owner value; if that is not answered, it makes
// sure, by the name alone and until something is deleted: "forceUnlock" in the branch for
// errors. But the first release has done its work, only the answer was lost, and what is
// deleted now is somebody else's.
type insistent struct {
	setPXLua
	holds, unanswered lb.Held[bool] // by owner
}

func (c *insistent) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.setPXLua.Acquire(ctx, req)
	c.holds.Put(req.Owner, err == nil)
	return lease, err
}

func (c *insistent) Release(ctx context.Context, req lb.Request) error {
	if again, _ := c.unanswered.Get(req.Owner); again {
		err := c.releaseAny(ctx, req)
		for errors.Is(err, lb.ErrLost) && c.env.Pause(ctx, req, lb.PollDelay) == nil {
			err = c.releaseAny(ctx, req)
		}
		return err
	}
	err := c.setPXLua.Release(ctx, req)
	held, _ := c.holds.Get(req.Owner)
	c.unanswered.Put(req.Owner, held && lb.AnswerOf(err) == lb.AnswerUnknown && !errors.Is(err, lb.ErrNotSent))
	return err
}
