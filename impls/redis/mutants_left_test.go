package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// leaveKey keeps a note of each grant, and never an end to it.
func leaveKey(ctx context.Context, server, owner string) error {
	rdb := redis.NewClient(&redis.Options{Addr: server})
	defer rdb.Close()
	return rdb.Set(ctx, "granted:"+owner, 1, 0).Err()
}

// leaveConnection asks by a client of its own, and keeps it.
func leaveConnection(ctx context.Context, server, owner string) error {
	rdb := redis.NewClient(&redis.Options{Addr: server})
	kept.Store(owner, rdb)
	return rdb.Ping(ctx).Err()
}

var kept sync.Map

// forgetful is redis-fair in which one client loses its place in the queue while it waits, and is
// not told: it goes on waiting for its turn. That is no order, which it does not claim.
func forgetful() lb.Impl {
	lock := mutate(Fair(), "forgetful", func(s session) lb.Client {
		return &forgotten{fair: fair{renewed{listener: listener{session: s}}}}
	}).(algorithm)
	lock.info.Traits.Fair = false
	return lock
}

type forgotten struct {
	fair
	waits int
}

func (c *forgotten) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	dropped := false
	return c.await(ctx, req, turn(req.Lock)+req.Owner, func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		if dropped {
			return nil, time.Hour, lb.ErrHeld
		}
		lease, wait, err := c.try(ctx, req)
		if errors.Is(err, lb.ErrHeld) {
			c.waits++
		}
		if dropped = c.waits == 5 && c.env.Client == "w1.c1"; dropped {
			_ = c.Release(ctx, req)
		}
		return lease, wait, err
	})
}
