package peers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// Redsync is go-redsync/redsync, Redlock in Go, with its own retries (32, each
// after 50 to 250 ms), drift factor and timeouts. Its random value is set to the
// bench's owner, so that a release also finds what a lost reply has granted.
func Redsync() lb.Impl {
	return onGoRedis{
		info: lb.Info{
			Name:       "peer-redsync",
			Doc:        "go-redsync/redsync v4: Redlock",
			Source:     "github.com/go-redsync/redsync/v4 v4.18.0",
			Topologies: []string{"redis-5", "redis"},
			Steps:      []string{"before-set", "after-set", "before-evalsha", "after-evalsha"},
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.Lease(),
		},
		open: func(env *lb.Env, nodes []*redis.Client) lb.Client {
			var pools []pool.Pool
			for _, n := range nodes {
				pools = append(pools, goredis.NewPool(n))
			}
			return &redsyncClient{env, nodes, redsync.New(pools...)}
		},
	}
}

type redsyncClient struct {
	env   *lb.Env
	nodes []*redis.Client
	rs    *redsync.Redsync
}

// mutex holds no state that Release would need: the value is the owner.
func (c *redsyncClient) mutex(req lb.Request) *redsync.Mutex {
	return c.rs.NewMutex(req.Lock, redsync.WithExpiry(c.env.TTL), redsync.WithValue(req.Owner),
		redsync.WithGenValueFunc(func() (string, error) { return req.Owner, nil }))
}

func (c *redsyncClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	m, ctx := c.mutex(req), serving(ctx, req)
	lock := func() error { return m.TryLockContext(ctx) }
	if !req.Try {
		lock = func() error {
			return c.env.Wait(ctx, "redsync", req, func(ctx context.Context) error { return m.LockContext(ctx) })
		}
	}
	for {
		err := lock()
		switch {
		case err == nil:
			return c.env.Grant(req, 0, c.env.Clock.Mono().Add(time.Until(m.Until()))), nil
		case ctx.Err() != nil:
			return nil, c.gaveUp(ctx, m, err)
		case unanswered(err):
			return nil, fmt.Errorf("peers: redsync: %w", err)
		case req.Try:
			return nil, lb.ErrHeld
		}
	}
}

// gaveUp cleans up: redsync does so with the context that has just ended.
func (c *redsyncClient) gaveUp(ctx context.Context, m *redsync.Mutex, err error) error {
	err = errors.Join(ctx.Err(), err)
	ctx, cancel := compose.Detached(ctx, c.env)
	defer cancel()
	if _, e := m.UnlockContext(ctx); unanswered(e) {
		return fmt.Errorf("peers: redsync: %w", errors.Join(err, e))
	}
	return compose.NoEffect(err)
}

// unanswered reports whether some node's answer is not known. Where a majority
// said no, redsync tells that and nothing else, and nothing else matters.
func unanswered(err error) bool {
	var node *redsync.RedisError
	return errors.As(err, &node)
}

func (c *redsyncClient) Release(ctx context.Context, req lb.Request) error {
	ok, err := c.mutex(req).UnlockContext(serving(ctx, req))
	switch {
	case ok:
		return nil
	case unanswered(err):
		return fmt.Errorf("peers: redsync: release: %w", err)
	}
	return lb.ErrLost
}

func (c *redsyncClient) Close() error { return redisconn.Close(c.nodes) }
