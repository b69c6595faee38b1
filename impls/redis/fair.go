package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

var (
	//go:embed fair_acquire.lua
	fairAcquireSource string
	//go:embed fair_release.lua
	fairReleaseSource string

	fairAcquire = redis.NewScript(fairAcquireSource)
	fairRelease = redis.NewScript(fairReleaseSource)
)

// Fair keeps a queue of those who wait in Redis and grants in its order:
//
//	drop those from the head of the queue who did not ask again in time;
//	if the lock is free and I am the head, or nobody waits: SET lock owner PX ttl;
//	otherwise stand in the queue, and promise to ask again within a TTL;
//	release: DEL lock, PUBLISH to the head of the queue, and to nobody else.
//
// Each of them is one script, and all times are the server's. Who waits asks
// again every third of the TTL, as a holder renews: that is how the living are
// told from the dead. Source: the idea of Redisson's RFairLock (list of waiters,
// sorted set of their timeouts).
func Fair() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-fair",
			Doc:        "a queue of waiters in Redis, granted in order; the dead are evicted by server time",
			Source:     "Redisson RFairLock",
			Topologies: oneServer,
			Requests:   renewable,
			Reads:      listening,
			Takes:      "acquire",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true, Renewing: true, Push: true, Fair: true, LostNotice: true},
			Expect:     compose.InRedis(compose.OnReplica(compose.RenewedOnWallClock(compose.Lease()))),
		},
		open: func(s session) lb.Client { return &fair{renewed{listener: listener{session: s}}} },
	}
}

type fair struct{ renewed }

// fairKeys are the lock, its queue and the timeouts of those in it. All have an
// ending, so that no name of a lock is the queue of another.
func fairKeys(lock string) []string {
	return []string{lock + ":lock", lock + ":queue", lock + ":timeouts"}
}

// turn is the channel of one who waits; it ends with who that is.
func turn(lock string) string { return lock + ":turn:" }

func (c *fair) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.await(ctx, req, turn(req.Lock)+req.Owner, func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		return c.try(ctx, req)
	})
	if !errors.Is(err, lb.ErrNoEffect) {
		return lease, err
	}
	// Having given up, we must not stand in the way of those behind us.
	detached, cancel := c.env.Detached(ctx)
	defer cancel()
	if e := c.Release(detached, req); lb.AnswerOf(e) == lb.AnswerUnknown {
		return nil, fmt.Errorf("redis: leave the queue: %w", e)
	}
	return nil, err
}

func (c *fair) try(ctx context.Context, req lb.Request) (*lb.Lease, time.Duration, error) {
	keys, ttl := fairKeys(req.Lock), c.env.TTL.Milliseconds()
	lease, wait, err := c.renewed.try(ctx, req, script{fairAcquire, keys, []any{req.Owner, ttl, !req.Try}},
		script{compareAndExpire, keys[:1], []any{req.Owner, ttl}})
	return lease, min(wait, c.env.TTL/3), err
}

// Release gives the lock back, or the place in the queue.
func (c *fair) Release(ctx context.Context, req lb.Request) error {
	return c.release(ctx, req, script{fairRelease, fairKeys(req.Lock), []any{req.Owner, turn(req.Lock)}})
}
