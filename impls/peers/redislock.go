package peers

import (
	"context"
	"errors"
	"fmt"

	"github.com/bsm/redislock"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// Redislock is bsm/redislock. It does not wait unless it is told to; the bench's
// client tries again. The library does not say until when a lock is good, but its
// user knows when he called Obtain and for what TTL, and so how long he may rely on
// it. Before he writes he asks how much is left, as its documentation shows. Its token is set to
// the bench's owner.
func Redislock() lb.Impl {
	return onGoRedis{
		info: lb.Info{
			Name:       "peer-redislock",
			Doc:        "bsm/redislock: a token in Lua, without renewal",
			Source:     "github.com/bsm/redislock v0.10.0",
			Topologies: []string{"redis"},
			Requests:   []string{"obtain-evalsha", "obtain-eval", "ttl-evalsha", "ttl-eval", "release-evalsha", "release-eval"},
			Reads:      []string{"ttl-evalsha"},
			Takes:      "obtain-evalsha",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.Except(compose.InRedis(compose.OnWallClock(compose.Lease())), compose.OverAtOnce("lost-grant"), compose.OldYes("lose-reply"), compose.OldYes("slow-reply")),
		},
		open: func(r *goRedis) lb.Client { return &redislockClient{goRedis: r, locks: redislock.New(r.nodes[0])} },
	}
}

type redislockClient struct {
	*goRedis
	locks *redislock.Client
	held  lb.Held[*redislock.Lock] // nil where it is not known whether it is
}

func (c *redislockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		call := c.env.Clock.Mono()
		c.held.Put(req.Owner, nil)
		lock, err := c.obtain(ctx, req)
		if errors.Is(err, redislock.ErrNotObtained) {
			c.held.Drop(req.Owner)
			return nil, lb.ErrHeld
		}
		if err != nil {
			return nil, fmt.Errorf("redislock: %w", err)
		}
		c.held.Put(req.Owner, lock)
		return c.env.Grant(req, 0, c.env.Validity(call)), nil
	})
}

func (c *redislockClient) obtain(ctx context.Context, req lb.Request) (*redislock.Lock, error) {
	c.serve(ctx, req, "obtain-")
	return c.locks.Obtain(ctx, req.Lock, c.env.TTL, &redislock.Options{Token: req.Owner})
}

// Valid implements [lb.Validator].
func (c *redislockClient) Valid(ctx context.Context, req lb.Request) (bool, error) {
	lock, _ := c.held.Get(req.Owner)
	if lock == nil {
		return false, nil
	}
	c.serve(ctx, req, "ttl-")
	left, err := lock.TTL(ctx)
	return left > 0, err
}

// Release needs the lock that Obtain has returned. Where the reply was lost, the
// same token obtains it again.
func (c *redislockClient) Release(ctx context.Context, req lb.Request) error {
	lock, asked := c.held.Get(req.Owner)
	if !asked {
		return lb.ErrLost
	}
	var err error
	if lock == nil {
		lock, err = c.obtain(ctx, req)
	}
	unanswered := c.unanswered.Load()
	if err == nil {
		c.serve(ctx, req, "release-")
		err = lock.Release(ctx)
	}
	switch {
	case err == nil:
		c.held.Drop(req.Owner)
		return nil
	case errors.Is(err, redislock.ErrLockNotHeld), errors.Is(err, redislock.ErrNotObtained):
		c.held.Drop(req.Owner)
		return c.lost(unanswered)
	}
	return fmt.Errorf("redislock: release: %w", err)
}
