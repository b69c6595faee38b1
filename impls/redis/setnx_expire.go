package redis

import (
	"context"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// SetNXExpire is the lock in three commands, of which only each by itself is
// atomic:
//
//	SETNX lock 1
//	EXPIRE lock seconds
//	DEL lock
//
// A client that dies after the first leaves a lock that never expires. Source:
// the surveys that present it as the first Redis lock, and its defect with it.
func SetNXExpire() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-setnx-expire",
			Doc:        "SETNX, then EXPIRE; DEL to release",
			Source:     "the Redis lock from before SET had options (Redis < 2.6.12)",
			Topologies: oneServer,
			Steps:      []string{"before-setnx", "after-setnx", "after-expire", "before-del", "after-del"},
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(lateDel(), lb.Expectation{
				Fault: "crash-at:after-setnx", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
				Why: "the key has no expiry yet and nobody is left to delete it", Source: "the surveys that print the algorithm",
			}),
		},
		open: func(s session) lb.Client { return setNXExpire{s} },
	}
}

type setNXExpire struct{ session }

func (c setNXExpire) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return compose.Poll(ctx, c.env, req, func(ctx context.Context) (*lb.Lease, error) {
		if err := c.env.Step(ctx, "before-setnx", req); err != nil {
			return nil, compose.NoEffect(err)
		}
		set, err := c.rdb.SetNX(ctx, req.Lock, "1", 0).Result()
		if err != nil {
			return nil, fmt.Errorf("redis: SETNX: %w", err)
		}
		if !set {
			return nil, lb.ErrHeld
		}
		if err := c.env.Step(ctx, "after-setnx", req); err != nil {
			return nil, err
		}
		call := c.env.Clock.Mono()
		if err := c.rdb.Expire(ctx, req.Lock, wholeSeconds(c.env.TTL)).Err(); err != nil {
			return nil, fmt.Errorf("redis: EXPIRE: %w", err)
		}
		if err := c.env.Step(ctx, "after-expire", req); err != nil {
			return nil, err
		}
		return c.env.Grant(req, 0, c.env.Validity(call)), nil
	})
}

// wholeSeconds rounds up to what EXPIRE can say.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

func (c setNXExpire) Release(ctx context.Context, req lb.Request) error {
	return c.releaseAny(ctx, req)
}
