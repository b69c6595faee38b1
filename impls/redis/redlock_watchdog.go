package redis

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

// RedlockWatchdog is [Redlock] for work of unknown length: every third of the TTL the lease is extended
// on all nodes, which counts if a majority confirms; where a majority refuses, the holder is told. Source:
// Redisson's RedissonRedLock of locks without a lease time, each of which is renewed by a watchdog of its
// own, while nobody counts on how many.
func RedlockWatchdog() lb.Impl {
	a := redlockOn("redis-5", "redlock-watchdog",
		"redlock, renewed every third of the TTL on a majority for as long as it is held", lb.Broken)
	a.info.Source = "Redisson RedissonRedLock of renewed locks, and a majority of renewals"
	a.info.ByTheBook = true
	a.info.Requests = append(a.info.Requests, "renew")
	a.info.Traits.Renewing, a.info.Traits.LostNotice = true, true
	a.info.Expect = compose.Except(redlockExpect(compose.RenewedOnWallClock(compose.Lease()), lb.Broken),
		seldomTwice("the holder is told when a majority refuses its renewal"),
		lb.Expectation{Fault: "evict", Outcomes: []lb.Outcome{lb.Broken, lb.Check}, Source: `redis.io, "Key eviction"`,
			Why: "nodes evict at a time of their own: the holder may be refused by a majority before somebody else is granted one"})
	a.open = func(s session) lb.Client { return &redlockWatchdog{redlock: newRedlock(s)} }
	return a
}

type redlockWatchdog struct {
	redlock
	renewals renewals
}

func (c *redlockWatchdog) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.redlock.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	c.renewals.Put(req.Owner, renewal{lease, lease.Renew(func(ctx context.Context) error { return c.renew(ctx, req) })})
	return lease, nil
}

// renew extends the lease where it is there still. The crew works for one at a time, and is
// the caller's: a renewal asks the nodes one after the other.
func (c *redlockWatchdog) renew(ctx context.Context, req lb.Request) error {
	extend := script{compareAndExpire, []string{req.Lock}, []any{req.Owner, c.env.TTL.Milliseconds()}}
	extended := redlock{session: c.session}.onAll(ctx, func(ctx context.Context, rdb *redis.Client, v *vote) error {
		_, err := c.run(ctx, rdb, req, "renew", extend, func(n int64) error { return v.cast(n == 1) })
		return err
	})
	switch {
	case extended.yes >= c.quorum():
		return nil
	case len(c.nodes)-extended.no < c.quorum():
		return lb.ErrLost
	}
	return fmt.Errorf("redlock: renew: no majority: %w", extended.err)
}

// Release gives the lock back. The renewals end before: a lock that can't be released must
// at least expire.
func (c *redlockWatchdog) Release(ctx context.Context, req lb.Request) error {
	c.renewals.letGo(req.Owner)
	return c.redlock.Release(ctx, req)
}

// Close ends all renewals: the locks of a session that is gone expire.
func (c *redlockWatchdog) Close() error {
	c.renewals.letAllGo()
	return c.redlock.Close()
}
