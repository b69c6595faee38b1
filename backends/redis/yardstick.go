package redis

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// Yardstick is PING; SET NX PX and DEL.
func Yardstick(_ context.Context, endpoint string) (*lab.Yardstick, error) {
	return yardstick(endpoint, lab.YardKey), nil
}

func yardstick(endpoint, key string) *lab.Yardstick {
	c := redis.NewClient(&redis.Options{Addr: endpoint, MaxRetries: -1, PoolSize: 1, DisableIdentity: true})
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error { return c.Ping(ctx).Err() },
		Writes: func(ctx context.Context) error {
			return errors.Join(c.SetNX(ctx, key, "1", time.Minute).Err(), c.Del(ctx, key).Err())
		},
		Close: func() { _ = c.Close() },
	}
}
