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
			Requests:   []string{"set", "evalsha", "eval"},
			Takes:      "set",
			Scripts:    true,
			OwnClock:   true,
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(compose.OnMasters(compose.OnWallClock(compose.Lease())), compose.Under(lb.Expectation{
				Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "a node that has forgotten its vote, or takes it for over, votes once more", Source: compose.Recovery},
				"cut-two+restart-empty", "cut-two+server-clock")...),
		},
		open: func(r *goRedis) lb.Client {
			var pools []pool.Pool
			for _, n := range r.nodes {
				pools = append(pools, goredis.NewPool(n))
			}
			return &redsyncClient{r, redsync.New(pools...)}
		},
	}
}

type redsyncClient struct {
	*goRedis
	rs *redsync.Redsync
}

// mutex holds no state that Release would need: the value is the owner.
func (c *redsyncClient) mutex(req lb.Request) *redsync.Mutex {
	return c.rs.NewMutex(req.Lock, redsync.WithExpiry(c.env.TTL), redsync.WithValue(req.Owner),
		redsync.WithGenValueFunc(func() (string, error) { return req.Owner, nil }))
}

func (c *redsyncClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	c.serve(ctx, req, "")
	m, sent := c.mutex(req), c.sent.Load()
	lock := func() error { return m.TryLockContext(ctx) }
	if !req.Try {
		lock = func() error {
			return c.env.Wait(ctx, req, "redsync", func(ctx context.Context) error { return m.LockContext(ctx) })
		}
	}
	for {
		err := lock()
		switch {
		case err == nil:
			return c.env.Grant(req, 0, c.env.Clock.Mono().Add(time.Until(m.Until()))), nil
		case ctx.Err() != nil && c.sent.Load() == sent:
			return nil, lb.NoEffect(errors.Join(ctx.Err(), err)) // no server was there to ask
		case ctx.Err() != nil:
			return nil, c.gaveUp(ctx, req, m, err)
		case anyUnanswered(err):
			return nil, fmt.Errorf("redsync: %w", err)
		case req.Try:
			return nil, lb.ErrHeld
		}
	}
}

// gaveUp cleans up: redsync does so with the context that has just ended.
func (c *redsyncClient) gaveUp(ctx context.Context, req lb.Request, m *redsync.Mutex, err error) error {
	err = errors.Join(ctx.Err(), err)
	ctx, cancel := c.env.Detached(ctx)
	defer cancel()
	c.serve(ctx, req, "")
	if _, e := m.UnlockContext(ctx); anyUnanswered(e) {
		return fmt.Errorf("redsync: %w", errors.Join(err, e))
	}
	return lb.NoEffect(err)
}

// anyUnanswered reports whether some node's answer is not known. Where a majority
// said no, redsync tells that and nothing else, and nothing else matters.
func anyUnanswered(err error) bool {
	var node *redsync.RedisError
	return errors.As(err, &node)
}

func (c *redsyncClient) Release(ctx context.Context, req lb.Request) error {
	c.serve(ctx, req, "")
	unanswered := c.unanswered.Load()
	ok, err := c.mutex(req).UnlockContext(ctx)
	switch {
	case ok:
		return nil
	case anyUnanswered(err):
		return fmt.Errorf("redsync: release: %w", err)
	}
	return c.lost(unanswered)
}
