package redis

import (
	"context"
	_ "embed"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

//go:embed fenced.lua
var fencedSource string

var fencedAcquire = redis.NewScript(fencedSource)

// Fenced is [SetPXLua] whose grant also takes a number from a counter, in the
// same script, so that numbers follow the order of grants: a fencing token.
//
// Source: the idea of Redisson's RFencedLock; the token's use is from M.
// Kleppmann, "How to do distributed locking", 2016.
func Fenced() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-fenced",
			Doc:        "redis-setpx-lua, and a fencing token from INCR in the same script",
			Source:     "Redisson RFencedLock; " + compose.Kleppmann,
			Topologies: oneServer,
			Requests:   []string{"script", "compare-and-delete"},
			Takes:      "script",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true, Fenced: true},
			Expect:     compose.InRedis(compose.OnReplica(compose.OnWallClock(compose.FencedLease()))),
		},
		open: func(s session) lb.Client { return fenced{s} },
	}
}

type fenced struct{ session }

func (c fenced) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		var token int64
		numbered := script{fencedAcquire, []string{req.Lock, req.Lock + ":token"}, []any{req.Owner, c.env.TTL.Milliseconds()}}
		sent, err := c.run(ctx, c.rdb, req, "script", numbered, func(n int64) error {
			token = n
			return taken(n != 0)
		})
		if err != nil {
			return nil, lb.Unsent(err)
		}
		return c.env.Grant(req, uint64(token), c.env.Validity(sent)), nil
	})
}

func (c fenced) Release(ctx context.Context, req lb.Request) error { return c.releaseOwn(ctx, req) }
