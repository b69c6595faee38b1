// Package redis holds the lock algorithms on Redis, one a file.
package redis

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
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
	return a.open(s), nil
}

// session is one client's connection to its Redis, and what it is told by env.
type session struct {
	env *lb.Env
	rdb *redis.Client
}

// dial connects. The driver must not retry by itself: a SET NX that is sent
// again after a lost reply finds its own value and reports that the lock is
// taken, while this client holds it.
func dial(ctx context.Context, env *lb.Env) (session, error) {
	if len(env.Servers) == 0 {
		return session{}, errors.New("redis: the run has no server")
	}
	rdb := redis.NewClient(&redis.Options{
		Addr:            env.Servers[0],
		MaxRetries:      -1,
		DialerRetries:   1,
		DialTimeout:     env.TTL,
		ReadTimeout:     env.TTL,
		WriteTimeout:    env.TTL,
		PoolSize:        2, // one for the lock, one for what runs beside it
		DisableIdentity: true,

		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := rdb.Ping(ctx).Err(); err != nil {
		_ = rdb.Close()
		return session{}, fmt.Errorf("redis: connect to %s: %w", env.Servers[0], err)
	}
	return session{env: env, rdb: rdb}, nil
}

// Close implements lb.Client for every algorithm: a Redis lock is not tied to
// its connection.
func (s session) Close() error { return s.rdb.Close() }

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
