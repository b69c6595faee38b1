package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/workloads/guard"
	"github.com/redis/go-redis/v9"
)

//go:embed guard.lua
var statement string

// Store keeps the protected store's fenced copy.
func Store() guard.Database {
	return guard.Database{Name: "redis", Doc: "the fenced copy is a hash in Redis, written by a script",
		Topology: "redis", Statement: strings.TrimSpace(statement), Open: openGuard}
}

// fenced keeps a record as a hash of token and value, and asks a script, because
// no command compares before it sets.
type fenced struct {
	client *redis.Client
	script *redis.Script
}

func openGuard(ctx context.Context, addr string) (guard.Guard, error) {
	// A script that was sent again would meet its own token, and its own value.
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	if err := c.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("guard: connect to Redis at %s: %w", addr, err), c.Close())
	}
	return fenced{c, redis.NewScript(statement)}, nil
}

// Admit implements [guard.Guard].
func (g fenced) Admit(ctx context.Context, claims []guard.Claim) (before []int64, admitted bool, err error) {
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

// Close implements [guard.Guard].
func (g fenced) Close() error { return g.client.Close() }
