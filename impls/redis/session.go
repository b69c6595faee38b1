// Package redis holds the lock algorithms on Redis, one a file.
package redis

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// algorithm is an lb.Impl made of its description and its way to open a client.
type algorithm struct {
	info lb.Info
	open func(session) lb.Client
}

func (a algorithm) Info() lb.Info { return a.info }

func (a algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	s, err := dial(ctx, env)
	if err != nil {
		return nil, err
	}
	if !a.info.Traits.Shared {
		return compose.Exclusive(a.open(s)), nil
	}
	return a.open(s), nil
}

// oneServer are the topologies of the algorithms that need one server, or one that
// leads others.
var oneServer = []string{"redis", "redis-sentinel"}

// session is one client's connections to its Redis servers, and what it is told
// by env.
type session struct {
	env   *lb.Env
	rdb   *redis.Client   // the server, for the algorithms that need one
	nodes []*redis.Client // all servers, for those that need several
}

func dial(ctx context.Context, env *lb.Env) (session, error) {
	nodes, err := redisconn.Dial(ctx, env)
	if err != nil {
		return session{}, err
	}
	return session{env: env, rdb: nodes[0], nodes: nodes}, nil
}

// Close implements lb.Client for every algorithm: a Redis lock is not tied to
// its connection.
func (s session) Close() error { return redisconn.Close(s.nodes) }

// released turns the number of deleted keys into the answer of a release.
func released(n int64, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("redis: release: %w", err)
	case n == 0:
		return lb.ErrLost
	}
	return nil
}

// compareAndDelete deletes the key if its value is this acquisition's own.
var compareAndDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

// releaseOwn is the release of every algorithm that keeps an owner value.
func (s session) releaseOwn(ctx context.Context, req lb.Request) error {
	if err := s.env.Step(ctx, "before-compare-and-delete", req); err != nil {
		return err
	}
	n, err := compareAndDelete.Run(ctx, s.rdb, []string{req.Lock}, req.Owner).Int64()
	if err := s.env.Step(ctx, "after-compare-and-delete", req); err != nil {
		return err
	}
	return released(n, err)
}
