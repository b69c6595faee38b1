package redis

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
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
			Requests:   []string{"setnx", "expire", "del"},
			Takes:      "setnx",
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(lateDel(), append(compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Stuck, lb.Safe},
				Why: "the key has no expiry yet, and the DEL of who never heard of it is as good for anybody's", Source: surveys}, "lost-grant", "reset-grant"),
				lb.Expectation{Fault: "kill@after-setnx", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
					Why: "the key has no expiry yet and nobody is left to delete it", Source: surveys})...),
		},
		open: func(s session) lb.Client { return setNXExpire{s} },
	}
}

type setNXExpire struct{ session }

func (c setNXExpire) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		if _, err := ask(ctx, c.session, req, "setnx", func(ctx context.Context) (bool, error) {
			return c.rdb.SetNX(ctx, req.Lock, "1", 0).Result()
		}, taken); err != nil {
			return nil, redisconn.Refused(err)
		}
		sent, err := ask(ctx, c.session, req, "expire", func(ctx context.Context) (bool, error) {
			return c.rdb.Expire(ctx, req.Lock, wholeSeconds(c.env.TTL)).Result()
		}, func(bool) error { return nil })
		if err != nil {
			return nil, err
		}
		return c.env.Grant(req, 0, c.env.Validity(sent)), nil
	})
}

// wholeSeconds rounds up to what EXPIRE can say.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

func (c setNXExpire) Release(ctx context.Context, req lb.Request) error {
	return c.releaseAny(ctx, req)
}
