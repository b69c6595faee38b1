package guard

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// redisGuard keeps a record as a hash of token and value, and asks a script, because
// no command compares before it sets.
type redisGuard struct {
	client *redis.Client
	script *redis.Script
}

func openRedis(ctx context.Context, addr string) (Guard, error) {
	// A script that was sent again would meet its own token, and its own value.
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	if err := c.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("guard: connect to Redis at %s: %w", addr, err), c.Close())
	}
	return redisGuard{c, redis.NewScript(statement("redis.lua"))}, nil
}

// Admit implements [Guard].
func (g redisGuard) Admit(ctx context.Context, claims []Claim) (before []int64, admitted bool, err error) {
	var keys []string
	var args []any
	for _, c := range claims {
		written := ""
		if c.New != nil {
			written = strconv.FormatInt(*c.New, 10)
		}
		keys = append(keys, c.Record)
		args = append(args, c.Token, c.First, written)
	}
	before, err = g.script.Run(ctx, g.client, keys, args...).Int64Slice()
	if errors.Is(err, redis.Nil) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("guard: ask Redis: %w", err)
	}
	return before, true, nil
}

// Close implements [Guard].
func (g redisGuard) Close() error { return g.client.Close() }
