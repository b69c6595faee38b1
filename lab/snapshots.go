package lab

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisSnapshot has the server write all that it knows to its disk, in the background.
func redisSnapshot(ctx context.Context, at Target) (e Effect, err error) {
	err = askRedis(at.Endpoint, patient, func(c *redis.Client) error {
		before, err := redisSaves(ctx, c)
		if err != nil {
			return err
		}
		start := time.Now()
		// One that is being written already is as good.
		if err := c.Do(ctx, "BGSAVE", "SCHEDULE").Err(); err != nil && !strings.Contains(err.Error(), "already in progress") {
			return err
		}
		for now := before; now == before; {
			if now, err = redisSaves(ctx, c); err != nil {
				return err
			}
		}
		e = Effect{Count: 1, Told: fmt.Sprintf("wrote a snapshot within %.3f s", time.Since(start).Seconds())}
		return nil
	})
	return e, err
}

// redisSaves is how many snapshots the server has written.
func redisSaves(ctx context.Context, c *redis.Client) (int, error) {
	info, err := redisInfo(ctx, c, "persistence")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(info["rdb_saves"])
}
