package redis

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

var (
	//go:embed reentrant_acquire.lua
	reentrantAcquireSource string
	//go:embed reentrant_release.lua
	reentrantReleaseSource string

	reentrantAcquire = redis.NewScript(reentrantAcquireSource)
	reentrantRelease = redis.NewScript(reentrantReleaseSource)

	// existsAndExpire extends the key's life if the client is in the hash.
	existsAndExpire = redis.NewScript(`if redis.call("hexists", KEYS[1], ARGV[1]) == 1 then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`)
)

// Reentrant is the lock of Redisson: a hash with one field, the client that
// holds the lock, whose value counts how often it does:
//
//	if the hash is missing or has my field: HINCRBY lock me 1, PEXPIRE lock ttl
//	if it has my field: PEXPIRE lock ttl                  (every ttl/3, while held)
//	count down; at 0 DEL lock, PUBLISH channel
//
// Each step is one script. Source: Redisson's RLock (RedissonLock). One thing is
// done otherwise: a release tells the count that shall be left, where Redisson's
// counts down by one. So a release that is sent again after a lost reply does not
// take away the client's other acquisitions.
func Reentrant() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-reentrant",
			Doc:        "a hash of client and count, renewed; waiters are woken by pub/sub",
			Source:     "Redisson RLock",
			Topologies: oneServer,
			Steps: []string{"before-acquire", "after-acquire", "before-subscribe", "after-subscribe",
				"before-renew", "after-renew", "before-release", "after-release"},
			Traits: lb.Traits{Leased: true, Renewing: true, Push: true, Reentrant: true, LostNotice: true},
			Expect: compose.OnReplica(compose.RenewedOnWallClock(compose.Lease())),
		},
		open: func(s session) lb.Client {
			return &reentrant{
				renewed: renewed{listener: listener{session: s}},
				// A client that opens another session is another owner: what the old
				// one left behind must not look like an acquisition of its own.
				me:   fmt.Sprintf("%s:%x", s.env.Client, s.env.Rand.Uint64()),
				mine: map[string]map[string]bool{},
			}
		},
	}
}

type reentrant struct {
	renewed
	me string
	// mine are the acquisitions that were granted or may have been, by lock and
	// owner, and whether they certainly were.
	mine map[string]map[string]bool
}

func (c *reentrant) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		if err := c.env.Step(ctx, "before-acquire", req); err != nil {
			return nil, 0, compose.NoEffect(err)
		}
		call := c.env.Clock.Mono()
		c.remember(req, false)
		left, err := reentrantAcquire.Run(ctx, c.rdb, []string{req.Lock}, c.me, c.env.TTL.Milliseconds()).Int64()
		if err != nil {
			return nil, 0, fmt.Errorf("redis: HINCRBY: %w", err)
		}
		if left != 0 {
			c.forget(req)
			return nil, c.untilFree(left), lb.ErrHeld
		}
		c.remember(req, true)
		if err := c.env.Step(ctx, "after-acquire", req); err != nil {
			return nil, 0, err
		}
		return c.hold(req, call, func(ctx context.Context) (int64, error) {
			return existsAndExpire.Run(ctx, c.rdb, []string{req.Lock}, c.me, c.env.TTL.Milliseconds()).Int64()
		}), 0, nil
	})
}

func (c *reentrant) Release(ctx context.Context, req lb.Request) error {
	if _, ok := c.mine[req.Lock][req.Owner]; !ok {
		return lb.ErrLost // never asked for in this session
	}
	c.letGo(req.Owner)
	keep := 0
	for owner, granted := range c.mine[req.Lock] {
		if granted && owner != req.Owner {
			keep++
		}
	}
	err := c.releaseBy(ctx, req, func(ctx context.Context) (int64, error) {
		return reentrantRelease.Run(ctx, c.rdb, []string{req.Lock}, c.me, keep, freed(req.Lock)).Int64()
	})
	if lb.OutcomeOf(err) != lb.Unknown {
		c.forget(req)
	}
	return err
}

func (c *reentrant) remember(req lb.Request, granted bool) {
	if c.mine[req.Lock] == nil {
		c.mine[req.Lock] = map[string]bool{}
	}
	c.mine[req.Lock][req.Owner] = granted
}

func (c *reentrant) forget(req lb.Request) {
	if delete(c.mine[req.Lock], req.Owner); len(c.mine[req.Lock]) == 0 {
		delete(c.mine, req.Lock)
	}
}
