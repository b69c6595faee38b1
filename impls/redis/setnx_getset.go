package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// surveys are the source of what the oldest locks do.
const surveys = "the surveys that print the algorithm"

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
// the same time. The look at the clock and the DEL of step 4 are two steps: nothing
// keeps a late DEL from freeing somebody else's lock. Source: the surveys that present it as the remedy for
// [SetNXExpire], and the old documentation of SETNX.
func SetNXGetSet() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-setnx-getset",
			Doc:        "SETNX with the end of the lease as value; GETSET to take over; DEL to release, if not over",
			Source:     "the Redis lock from before SET had options, with timestamps",
			Topologies: oneServer,
			Requests:   []string{"setnx", "get", "getset", "del"},
			Reads:      []string{"get"},
			Takes:      "setnx",
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(compose.InRedis(compose.OnReplica(compose.Lease())), append(slices.Concat(
				compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
					Why: "who is behind writes an end that is over for the others, who is ahead takes theirs for over", Source: surveys}, "client-clock:back", "client-clock:*"),
				compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check}, Reason: lb.Overstay,
					Why: "the clients end each other's leases by their own clocks, and the server by none; a holder that is kept at work meanwhile outlives its lease", Source: surveys}, compose.ServerClocks()...)),
				lb.Expectation{Fault: "client-clock", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
					Why: "the client whose clock is ahead sees an expiry that has not come", Source: surveys},
				lb.Expectation{Fault: "client-clock:drift", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
					Why: "the holder measures its lease by a clock that is slow; by the others' it is over", Source: surveys},
				lb.Expectation{Fault: "kill@after-setnx", Outcomes: []lb.Outcome{lb.Safe},
					Why: "the value has the end of the lease, by which whoever comes later takes it over", Source: surveys},
				lb.Expectation{Fault: "pause@before-del", Outcomes: []lb.Outcome{lb.Broken, lb.Safe},
					Why: "the DEL of a client that stops after the look at the clock comes when the lock is another's; somebody who reads an old time just then may write its own in place of the key that it deleted", Source: surveys},
				lb.Expectation{Fault: "cut-rejoin", Outcomes: []lb.Outcome{lb.Broken, lb.Safe},
					Why: "the DEL was sent in time, and arrives after the cut, when the lock may be another's", Source: surveys})...),
		},
		open: func(s session) lb.Client { return &setNXGetSet{session: s} },
	}
}

type setNXGetSet struct {
	session
	asked lb.Held[timestamped] // by owner
}

// timestamped is a lock that was asked for.
type timestamped struct {
	end     int64 // that it wrote last, in milliseconds
	granted bool
}

func (c *setNXGetSet) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		lease, err := c.set(ctx, req)
		if !errors.Is(err, lb.ErrHeld) {
			return lease, err
		}
		old, err := c.read(ctx, req)
		if errors.Is(err, lb.ErrHeld) {
			return nil, err
		} else if err != nil {
			return nil, lb.NoEffect(err)
		}
		return c.takeOver(ctx, req, old)
	})
	if lb.AnswerOf(err) == lb.AnswerFailed {
		c.asked.Drop(req.Owner)
	}
	return lease, err
}

// set is step 1.
func (c *setNXGetSet) set(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.write(ctx, req, "setnx", func(ctx context.Context, end int64) (bool, error) {
		return c.rdb.SetNX(ctx, req.Lock, end, 0).Result()
	})
}

// read is step 2: it returns the time of a lease that is over, or ErrHeld. A lock
// that was given back since step 1 has been over since the year 0, so to speak.
func (c *setNXGetSet) read(ctx context.Context, req lb.Request) (old int64, err error) {
	_, err = ask(ctx, c.session, req, "get", func(ctx context.Context) (int64, error) {
		return orZero(c.rdb.Get(ctx, req.Lock).Int64())
	}, func(end int64) error {
		old = end
		return taken(end < c.env.Clock.Now().UnixMilli())
	})
	return old, err
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
	return c.write(ctx, req, "getset", func(ctx context.Context, end int64) (bool, error) {
		current, err := orZero(c.rdb.GetSet(ctx, req.Lock, end).Int64())
		return current == old, err
	})
}

// write sends the time, in milliseconds, at which a lease that is asked for now will
// be over, and is granted that lease if the command says so.
func (c *setNXGetSet) write(ctx context.Context, req lb.Request, name string, command func(context.Context, int64) (bool, error)) (*lb.Lease, error) {
	var sent lb.Reading
	err := c.env.Send(ctx, req, name, func(ctx context.Context) error {
		sent = c.env.Clock.Mono()
		end := c.env.Clock.Now().Add(c.env.TTL).UnixMilli()
		c.asked.Put(req.Owner, timestamped{end: end})
		granted, err := redisconn.Ask(ctx, func(ctx context.Context) (bool, error) { return command(ctx, end) })
		if err != nil {
			return fmt.Errorf("redis: %s: %w", name, err)
		}
		c.asked.Put(req.Owner, timestamped{end, granted})
		return taken(granted)
	})
	if err != nil {
		return nil, redisconn.Refused(err)
	}
	return c.env.Grant(req, 0, c.env.Validity(sent)), nil
}

// Release is step 4. The value says nothing of who wrote it: a lease that is over
// may be somebody else's by now, and so may one of which we don't know whether it
// was granted, or given back already. All of them are left alone.
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
	switch {
	case lb.AnswerOf(err) != lb.AnswerUnknown:
		c.asked.Drop(req.Owner)
	case !errors.Is(err, lb.ErrNotSent):
		c.asked.Put(req.Owner, timestamped{end: h.end})
	}
	return err
}
