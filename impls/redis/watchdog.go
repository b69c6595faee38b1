package redis

import (
	"context"
	_ "embed"
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
			Requests:   renewable,
			Reads:      listening,
			ByTheBook:  true,
			Takes:      "acquire",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true, Renewing: true, Push: true, LostNotice: true},
			Expect:     compose.InRedis(compose.OnReplica(compose.RenewedOnWallClock(compose.Lease()))),
		},
		open: func(s session) lb.Client { return &watchdog{renewed{listener: listener{session: s}}} },
	}
}

type watchdog struct{ renewed }

// freed is the channel on which the release of a lock is published.
func freed(lock string) string { return lock + ":freed" }

func (c *watchdog) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	keys, ttl := []string{req.Lock}, c.env.TTL.Milliseconds()
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		return c.try(ctx, req, script{watchdogAcquire, keys, []any{req.Owner, ttl}}, script{compareAndExpire, keys, []any{req.Owner, ttl}})
	})
}

func (c *watchdog) Release(ctx context.Context, req lb.Request) error {
	return c.release(ctx, req, script{watchdogRelease, []string{req.Lock}, []any{req.Owner, freed(req.Lock)}})
}
