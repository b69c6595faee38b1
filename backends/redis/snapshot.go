package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// snapshot has the server write all that it knows to its disk, in the background.
func snapshot(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = ask(at.Endpoint, patient, func(c *redis.Client) error {
		before, err := saves(ctx, c)
		if err != nil {
			return err
		}
		start := time.Now()
		// One that is being written already is as good.
		if err := c.Do(ctx, "BGSAVE", "SCHEDULE").Err(); err != nil && !strings.Contains(err.Error(), "already in progress") {
			return err
		}
		for now := before; now == before; {
			if now, err = saves(ctx, c); err != nil {
				return err
			}
		}
		e = lab.Effect{Count: 1, Told: fmt.Sprintf("wrote a snapshot within %.3f s", time.Since(start).Seconds())}
		return nil
	})
	return e, err
}

// saves is how many snapshots the server has written.
func saves(ctx context.Context, c *redis.Client) (int, error) {
	info, err := section(ctx, c, "persistence")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(info["rdb_saves"])
}
