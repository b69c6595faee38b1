package redis

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
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
			Requests:   []string{"set", "compare-and-delete"},
			ByTheBook:  true,
			Takes:      "set",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.InRedis(compose.OnReplica(compose.OnWallClock(compose.Lease()))),
		},
		open: func(s session) lb.Client { return setPXLua{s} },
	}
}

type setPXLua struct{ session }

func (c setPXLua) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		return c.setPX(ctx, req)
	})
}

// setPX is one try.
func (s session) setPX(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	sent, err := ask(ctx, s, req, "set", func(ctx context.Context) (bool, error) {
		return s.rdb.SetNX(ctx, req.Lock, req.Owner, s.env.TTL).Result()
	}, taken)
	if err != nil {
		return nil, redisconn.Refused(err)
	}
	return s.env.Grant(req, 0, s.env.Validity(sent)), nil
}

func (c setPXLua) Release(ctx context.Context, req lb.Request) error { return c.releaseOwn(ctx, req) }
