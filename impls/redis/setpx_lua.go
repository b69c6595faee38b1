package redis

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// SetPXLua is the single-server lock of the Redis documentation:
//
//	SET lock owner NX PX ttl
//	if GET lock = owner then DEL lock        (atomically, in Lua)
//
// Source: redis.io, "Distributed Locks with Redis", section "Correct
// Implementation with a Single Instance".
func SetPXLua() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-setpx-lua",
			Doc:        "SET NX PX with the owner as value; release by compare-and-delete in Lua",
			Source:     `redis.io, "Distributed Locks with Redis", single instance`,
			Topologies: oneServer,
			Steps:      []string{"before-set", "after-set", "before-compare-and-delete", "after-compare-and-delete"},
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.OnReplica(compose.OnWallClock(compose.Lease())),
		},
		open: func(s session) lb.Client { return setPXLua{s} },
	}
}

type setPXLua struct{ session }

func (c setPXLua) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return compose.Poll(ctx, c.env, req, func(ctx context.Context) (*lb.Lease, error) {
		return c.setPX(ctx, req)
	})
}

// setPX is one try.
func (s session) setPX(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if err := s.env.Step(ctx, "before-set", req); err != nil {
		return nil, compose.NoEffect(err)
	}
	call := s.env.Clock.Mono()
	set, err := s.rdb.SetNX(ctx, req.Lock, req.Owner, s.env.TTL).Result()
	if err != nil {
		return nil, fmt.Errorf("redis: SET NX PX: %w", err)
	}
	if !set {
		return nil, lb.ErrHeld
	}
	if err := s.env.Step(ctx, "after-set", req); err != nil {
		return nil, err
	}
	return s.env.Grant(req, 0, s.env.Validity(call)), nil
}

func (c setPXLua) Release(ctx context.Context, req lb.Request) error { return c.releaseOwn(ctx, req) }
