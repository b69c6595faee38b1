package redis

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

// expireAny extends the key's life, whoever holds the lock.
var expireAny = redis.NewScript(`return redis.call("pexpire", KEYS[1], ARGV[1])`)

// WatchdogExpire is [Watchdog] whose renewals do not look whose the lock is:
//
//	PEXPIRE lock ttl          (every ttl/3, while held)
//
// Who has lost the lock renews that of the next one, is told that all went well, and works on. Source:
// the renewal of many a hand-written watchdog, which compares at the release only.
func WatchdogExpire() lb.Impl {
	const doc = "Redisson RLock, whose renewal compares"
	a := Watchdog().(algorithm)
	a.info.Name = "redis-watchdog-expire"
	a.info.Doc = "redis-watchdog whose renewal is a plain PEXPIRE, whoever holds the lock"
	a.info.Source = "common form of a renewal without a script"
	a.info.Expect = compose.Except(a.info.Expect,
		lb.Expectation{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Broken},
			Why: "who wakes up without the lock writes, and if a renewal of the next one's comes first, it is told that it has it", Source: doc},
		lb.Expectation{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Check, lb.Broken},
			Why: "who wakes up without the lock and looks at its lease stops, unless a renewal of the next one's comes first", Source: doc})
	a.open = func(s session) lb.Client {
		return &watchdogExpire{watchdog{renewed{listener: listener{session: s}}}}
	}
	return a
}

type watchdogExpire struct{ watchdog }

func (c *watchdogExpire) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	keys, ttl := []string{req.Lock}, c.env.TTL.Milliseconds()
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		return c.try(ctx, req, script{watchdogAcquire, keys, []any{req.Owner, ttl}}, script{expireAny, keys, []any{ttl}})
	})
}
