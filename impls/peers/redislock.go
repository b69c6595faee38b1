package peers

import (
	"context"
	"errors"
	"fmt"

	"github.com/bsm/redislock"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// Redislock is bsm/redislock. It does not wait unless it is told to; the bench's
// client tries again, which has the advantage that it knows when the request that
// succeeded was sent, and so how long it may rely on the lock. The library does
// not say. Its token is set to the bench's owner.
func Redislock() lb.Impl {
	return onGoRedis{
		info: lb.Info{
			Name:       "peer-redislock",
			Doc:        "bsm/redislock: a token in Lua, without renewal",
			Source:     "github.com/bsm/redislock v0.10.0",
			Topologies: []string{"redis"},
			Steps:      []string{"before-evalsha", "after-evalsha"},
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.Lease(),
		},
		open: func(env *lb.Env, nodes []*redis.Client) lb.Client {
			return &redislockClient{env: env, nodes: nodes, locks: redislock.New(nodes[0])}
		},
	}
}

type redislockClient struct {
	env   *lb.Env
	nodes []*redis.Client
	locks *redislock.Client
	held  compose.Held[*redislock.Lock] // nil where it is not known whether it is
}

func (c *redislockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	ctx = serving(ctx, req)
	return compose.Poll(ctx, c.env, req, func(ctx context.Context) (*lb.Lease, error) {
		call := c.env.Clock.Mono()
		c.held.Put(req.Owner, nil)
		lock, err := c.obtain(ctx, req)
		if errors.Is(err, redislock.ErrNotObtained) {
			c.held.Drop(req.Owner)
			return nil, lb.ErrHeld
		}
		if err != nil {
			return nil, fmt.Errorf("peers: redislock: %w", err)
		}
		c.held.Put(req.Owner, lock)
		return c.env.Grant(req, 0, c.env.Validity(call)), nil
	})
}

func (c *redislockClient) obtain(ctx context.Context, req lb.Request) (*redislock.Lock, error) {
	return c.locks.Obtain(ctx, req.Lock, c.env.TTL, &redislock.Options{Token: req.Owner})
}

// Release needs the lock that Obtain has returned. Where the reply was lost, the
// same token obtains it again.
func (c *redislockClient) Release(ctx context.Context, req lb.Request) error {
	ctx = serving(ctx, req)
	lock, asked := c.held.Get(req.Owner)
	if !asked {
		return lb.ErrLost
	}
	var err error
	if lock == nil {
		lock, err = c.obtain(ctx, req)
	}
	if err == nil {
		err = lock.Release(ctx)
	}
	switch {
	case err == nil:
		c.held.Drop(req.Owner)
		return nil
	case errors.Is(err, redislock.ErrLockNotHeld), errors.Is(err, redislock.ErrNotObtained):
		c.held.Drop(req.Owner)
		return lb.ErrLost
	}
	return fmt.Errorf("peers: redislock: release: %w", err)
}

func (c *redislockClient) Close() error { return redisconn.Close(c.nodes) }
