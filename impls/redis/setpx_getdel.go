package redis

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

// SetPXGetDel takes the lock as [SetPXLua] does, and looks whose it is before it gives it back, in
// a request of its own:
//
//	SET lock owner NX PX ttl
//	GET lock
//	DEL lock              (if that was the owner)
//
// Between the two the lease can end, and the DEL frees the lock of the next one. Source: what
// redis.io, "Distributed Locks with Redis", has its script for.
func SetPXGetDel() lb.Impl {
	const doc = `redis.io, "Distributed Locks with Redis"`
	return algorithm{
		info: lb.Info{
			Name:       "redis-setpx-get-del",
			Doc:        "SET NX PX with the owner as value; release by GET, and DEL if it is one's own",
			Source:     "common form of the SET NX PX lock without a script",
			Topologies: oneServer,
			Requests:   []string{"set", "get", "del"},
			Reads:      []string{"get"},
			Takes:      "set",
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(compose.InRedis(compose.OnReplica(compose.OnWallClock(compose.Lease()))),
				lb.Expectation{Fault: "pause@before-del", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
					Why: "the lease ends between the look and the DEL, which frees the lock of the next one", Source: doc}),
		},
		open: func(s session) lb.Client { return setPXGetDel{setPXLua{s}} },
	}
}

type setPXGetDel struct{ setPXLua }

func (c setPXGetDel) Release(ctx context.Context, req lb.Request) error {
	if err := c.look(ctx, req); err != nil {
		return err
	}
	return c.releaseAny(ctx, req)
}

// look is [lb.ErrLost] where the key is not this acquisition's own.
func (s session) look(ctx context.Context, req lb.Request) error {
	_, err := ask(ctx, s, req, "get", func(ctx context.Context) (string, error) {
		return s.rdb.Get(ctx, req.Lock).Result()
	}, func(owner string) error {
		if owner != req.Owner {
			return lb.ErrLost
		}
		return nil
	})
	if errors.Is(err, redis.Nil) {
		return lb.ErrLost
	}
	return err
}
