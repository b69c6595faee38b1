package redis

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// SetPXDel takes the lock as [SetPXLua] does, but gives it back by a plain DEL,
// whoever holds it by then:
//
//	SET lock owner NX PX ttl
//	DEL lock
//
// Source: the short form that many introductions to distributed locks print
// (for one, the preface of an etcd lock demo that shows it as the Redis way).
func SetPXDel() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-setpx-del",
			Doc:        "SET NX PX; release by a plain DEL",
			Source:     "common short form of the SET NX PX lock",
			Topologies: oneServer,
			Requests:   []string{"set", "del"},
			Takes:      "set",
			Traits:     lb.Traits{Leased: true},
			Expect:     lateDel(),
		},
		open: func(s session) lb.Client { return setPXDel{s} },
	}
}

// lateDel is what a release without owner check costs.
func lateDel() []lb.Expectation {
	return compose.PlainDelete(compose.InRedis(compose.OnReplica(compose.OnWallClock(compose.Lease()))), "DEL", `redis.io, "Distributed Locks with Redis"`)
}

type setPXDel struct{ session }

func (c setPXDel) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		return c.setPX(ctx, req)
	})
}

func (c setPXDel) Release(ctx context.Context, req lb.Request) error { return c.releaseAny(ctx, req) }

// releaseAny deletes the key without a look at whose it is.
func (s session) releaseAny(ctx context.Context, req lb.Request) error {
	_, err := ask(ctx, s, req, "del", func(ctx context.Context) (int64, error) {
		return s.rdb.Del(ctx, req.Lock).Result()
	}, released)
	return err
}
