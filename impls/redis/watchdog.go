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
	//go:embed watchdog_acquire.lua
	watchdogAcquireSource string
	//go:embed watchdog_release.lua
	watchdogReleaseSource string

	watchdogAcquire = redis.NewScript(watchdogAcquireSource)
	watchdogRelease = redis.NewScript(watchdogReleaseSource)

	// compareAndExpire extends the key's life if its value is this acquisition's own.
	compareAndExpire = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`)
)

// Watchdog is [SetPXLua] for work of unknown length, and without polling:
//
//	SET lock owner NX PX ttl, or else PTTL lock        (atomically, in Lua)
//	if GET lock = owner then PEXPIRE lock ttl          (every ttl/3, while held)
//	if GET lock = owner then DEL lock, PUBLISH channel
//
// Who finds the lock taken subscribes to the channel and tries again after each
// message, or when the holder's lease must have ended. Source: the watchdog and
// the waiting of Redisson's RLock.
func Watchdog() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-watchdog",
			Doc:        "redis-setpx-lua, renewed every third of the TTL; waiters are woken by pub/sub",
			Source:     "Redisson RLock: lock watchdog and pub/sub",
			Topologies: oneServer,
			Steps: []string{"before-acquire", "after-acquire", "before-subscribe", "after-subscribe",
				"before-renew", "after-renew", "before-release", "after-release"},
			Traits: lb.Traits{Leased: true, Renewing: true, Push: true, LostNotice: true},
			Expect: compose.OnReplica(compose.RenewedOnWallClock(compose.Lease())),
		},
		open: func(s session) lb.Client { return &watchdog{renewed{listener: listener{session: s}}} },
	}
}

type watchdog struct{ renewed }

// freed is the channel on which the release of a lock is published.
func freed(lock string) string { return "freed:" + lock }

func (c *watchdog) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		if err := c.env.Step(ctx, "before-acquire", req); err != nil {
			return nil, 0, compose.NoEffect(err)
		}
		call := c.env.Clock.Mono()
		left, err := watchdogAcquire.Run(ctx, c.rdb, []string{req.Lock}, req.Owner, c.env.TTL.Milliseconds()).Int64()
		if err != nil {
			return nil, 0, fmt.Errorf("redis: SET NX PX: %w", err)
		}
		if left != 0 {
			return nil, c.untilFree(left), lb.ErrHeld
		}
		if err := c.env.Step(ctx, "after-acquire", req); err != nil {
			return nil, 0, err
		}
		return c.hold(req, call, func(ctx context.Context) (int64, error) {
			return compareAndExpire.Run(ctx, c.rdb, []string{req.Lock}, req.Owner, c.env.TTL.Milliseconds()).Int64()
		}), 0, nil
	})
}

func (c *watchdog) Release(ctx context.Context, req lb.Request) error {
	c.letGo(req.Owner)
	return c.releaseBy(ctx, req, func(ctx context.Context) (int64, error) {
		return watchdogRelease.Run(ctx, c.rdb, []string{req.Lock}, req.Owner, freed(req.Lock)).Int64()
	})
}

// releaseBy is the release by a script that returns 0 where this owner did not
// hold the lock.
func (s session) releaseBy(ctx context.Context, req lb.Request, release func(context.Context) (int64, error)) error {
	if err := s.env.Step(ctx, "before-release", req); err != nil {
		return err
	}
	n, err := release(ctx)
	if err := s.env.Step(ctx, "after-release", req); err != nil {
		return err
	}
	return released(n, err)
}
