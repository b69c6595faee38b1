package redis

import (
	"context"
	"strconv"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// looksThenTakes counts the holders and joins them by two commands, between which another may do the same; and the time is
// its own clock's. So are the counting semaphores that many write by heart.
type looksThenTakes struct {
	*semaphore
}

func looking() lb.Impl {
	return alone(alsoSends("look", mutate(Semaphore(3), "looks-then-takes", func(s session) lb.Client {
		return looksThenTakes{&semaphore{renewed{listener: listener{session: s}}, 3}}
	})))
}

func (c looksThenTakes) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	now := func() int64 { return time.Now().UnixMilli() }
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		if _, err := ask(ctx, c.session, req, "look", func(ctx context.Context) (int64, error) {
			return c.rdb.ZCount(ctx, req.Lock, "("+strconv.FormatInt(now(), 10), "+inf").Result()
		}, func(n int64) error { return taken(n < int64(c.permits)) }); err != nil {
			return nil, lb.NoEffect(err)
		}
		sent, err := ask(ctx, c.session, req, "acquire", func(ctx context.Context) (int64, error) {
			return c.rdb.ZAdd(ctx, req.Lock, redis.Z{Score: float64(now() + c.env.TTL.Milliseconds()), Member: req.Owner}).Result()
		}, func(int64) error { return nil })
		if err != nil {
			return nil, lb.Unsent(err)
		}
		return c.env.Grant(req, 0, c.env.Validity(sent)), nil
	})
}
