package peers

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

// SetNX is the lock of the Redis documentation as it is written with go-redis as that
// comes:
//
//	rdb.SetNX(ctx, lock, owner, ttl)
//	compareAndDelete.Run(ctx, rdb, lock, owner)
//
// redis-setpx-lua is the same over a driver that sends nothing twice. Here a SET whose
// answer was lost is sent again, finds what it has set itself, and is refused: nobody has
// the lock then, up to its end.
func SetNX() lb.Impl {
	const source = "go-redis v9.23.0, redis.Options"
	return onGoRedis{
		info: lb.Info{
			Name:       "peer-go-redis",
			Doc:        "SET NX PX and compare-and-delete over go-redis as it comes, which sends a command up to four times",
			Source:     source,
			Topologies: []string{"redis"},
			Requests:   []string{"set", "evalsha", "eval"},
			Takes:      "set",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(compose.InRedis(compose.OnWallClock(compose.Lease())),
				compose.OverAtOnce("lost-grant"), compose.OverAtOnce("lose-reply")),
		},
		open: func(r *goRedis) lb.Client { return setNX{r} },
	}
}

var compareAndDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

type setNX struct{ *goRedis }

func (c setNX) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		c.serve(ctx, req, "")
		call := c.env.Clock.Mono()
		set, err := c.nodes[0].SetNX(ctx, req.Lock, req.Owner, c.env.TTL).Result()
		if err != nil {
			return nil, fmt.Errorf("go-redis: %w", err)
		}
		if !set {
			return nil, lb.ErrHeld
		}
		return c.env.Grant(req, 0, c.env.Validity(call)), nil
	})
}

func (c setNX) Release(ctx context.Context, req lb.Request) error {
	c.serve(ctx, req, "")
	unanswered := c.unanswered.Load()
	n, err := compareAndDelete.Run(ctx, c.nodes[0], []string{req.Lock}, req.Owner).Int64()
	switch {
	case err != nil:
		return fmt.Errorf("go-redis: release: %w", err)
	case n == 0:
		return c.lost(unanswered)
	}
	return nil
}
