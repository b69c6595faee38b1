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

// SetNXGetSet is the lock that needs no expiry on the server. Its value is the
// time at which it ends, by the wall clock of the client that wrote it:
//
//  1. SETNX lock now+ttl: if it was set, the lock is ours;
//  2. GET lock: if that time is not over by our clock, the lock is taken;
//  3. GETSET lock now+ttl: if it returns what step 2 has read, the lock is ours,
//     else somebody was faster (and has now our time in place of its own);
//  4. to release, DEL lock, but only if our time is not over by our clock.
//
// It takes over from the dead without EXPIRE, and rests on all clients having
// the same time. The look at the clock and the DEL of step 4 are two steps: only a
// deadline of the release keeps a late DEL from freeing somebody else's lock. Source: the surveys that present it as the remedy for
// [SetNXExpire], and the old documentation of SETNX.
func SetNXGetSet() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-setnx-getset",
			Doc:        "SETNX with the end of the lease as value; GETSET to take over; DEL to release, if not over",
			Source:     "the Redis lock from before SET had options, with timestamps",
			Topologies: oneServer,
			Steps: []string{"before-setnx", "after-setnx", "before-get", "after-get", "before-getset", "after-getset",
				"before-del", "after-del"},
			Traits: lb.Traits{Leased: true},
			Expect: compose.Except(compose.OnReplica(compose.Lease()), lb.Expectation{
				Fault: "client-clock", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "the client whose clock is ahead sees an expiry that has not come", Source: "the surveys that print the algorithm",
			}),
		},
		open: func(s session) lb.Client { return &setNXGetSet{session: s} },
	}
}

type setNXGetSet struct {
	session
	asked compose.Held[timestamped] // by owner
}

// timestamped is a lock that was asked for.
type timestamped struct {
	end     int64 // that it wrote last, in milliseconds
	granted bool
}

func (c *setNXGetSet) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := compose.Poll(ctx, c.env, req, func(ctx context.Context) (*lb.Lease, error) {
		lease, err := c.set(ctx, req)
		if !errors.Is(err, lb.ErrHeld) {
			return lease, err
		}
		old, err := c.read(ctx, req)
		if err != nil {
			return nil, err
		}
		return c.takeOver(ctx, req, old)
	})
	if lb.OutcomeOf(err) == lb.Fail {
		c.asked.Drop(req.Owner)
	}
	return lease, err
}

// set is step 1.
func (c *setNXGetSet) set(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if err := c.env.Step(ctx, "before-setnx", req); err != nil {
		return nil, compose.NoEffect(err)
	}
	call := c.env.Clock.Mono()
	set, err := c.rdb.SetNX(ctx, req.Lock, c.end(req), 0).Result()
	if err != nil {
		return nil, fmt.Errorf("redis: SETNX: %w", err)
	}
	if !set {
		return nil, lb.ErrHeld
	}
	return c.granted(ctx, req, "after-setnx", call)
}

// read is step 2: it returns the time of a lease that is over, or ErrHeld. A lock
// that was given back since step 1 has been over since the year 0, so to speak.
func (c *setNXGetSet) read(ctx context.Context, req lb.Request) (old int64, err error) {
	if err := c.env.Step(ctx, "before-get", req); err != nil {
		return 0, compose.NoEffect(err)
	}
	old, err = orZero(c.rdb.Get(ctx, req.Lock).Int64())
	if err != nil {
		return 0, compose.NoEffect(fmt.Errorf("redis: GET: %w", err))
	}
	if err := c.env.Step(ctx, "after-get", req); err != nil {
		return 0, compose.NoEffect(err)
	}
	if old >= c.env.Clock.Now().UnixMilli() {
		return 0, lb.ErrHeld
	}
	return old, nil
}

// orZero reads a missing key as 0.
func orZero(n int64, err error) (int64, error) {
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, err
}

// takeOver is step 3.
func (c *setNXGetSet) takeOver(ctx context.Context, req lb.Request, old int64) (*lb.Lease, error) {
	if err := c.env.Step(ctx, "before-getset", req); err != nil {
		return nil, compose.NoEffect(err)
	}
	call := c.env.Clock.Mono()
	//lint:ignore SA1019 the algorithm is made of SETNX, GET and GETSET
	current, err := orZero(c.rdb.GetSet(ctx, req.Lock, c.end(req)).Int64())
	if err != nil {
		return nil, fmt.Errorf("redis: GETSET: %w", err)
	}
	if current != old {
		return nil, lb.ErrHeld
	}
	return c.granted(ctx, req, "after-getset", call)
}

func (c *setNXGetSet) granted(ctx context.Context, req lb.Request, step string, call lb.Instant) (*lb.Lease, error) {
	h, _ := c.asked.Get(req.Owner)
	c.asked.Put(req.Owner, timestamped{h.end, true})
	if err := c.env.Step(ctx, step, req); err != nil {
		return nil, err
	}
	return c.env.Grant(req, 0, c.env.Validity(call)), nil
}

// end is the time, in milliseconds, at which a lease that is asked for now will be
// over.
func (c *setNXGetSet) end(req lb.Request) int64 {
	end := c.env.Clock.Now().Add(c.env.TTL).UnixMilli()
	c.asked.Put(req.Owner, timestamped{end: end})
	return end
}

// Release is step 4. The value says nothing of who wrote it: a lease that is over
// may be somebody else's by now, and so may one of which we don't know whether it
// was granted. Both are left alone.
func (c *setNXGetSet) Release(ctx context.Context, req lb.Request) error {
	h, asked := c.asked.Get(req.Owner)
	if !asked {
		return lb.ErrLost
	}
	left := time.Duration(h.end-c.env.Clock.Now().UnixMilli()) * time.Millisecond
	var err error
	switch {
	case left <= 0:
		err = lb.ErrLost
	case h.granted:
		err = c.releaseAny(ctx, req)
	default:
		return fmt.Errorf("redis: nothing tells whether the lock is ours: it is over in %v", left)
	}
	if lb.OutcomeOf(err) != lb.Unknown {
		c.asked.Drop(req.Owner)
	}
	return err
}
