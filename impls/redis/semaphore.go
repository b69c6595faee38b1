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
	//go:embed semaphore_acquire.lua
	semaphoreAcquireSource string
	//go:embed semaphore_renew.lua
	semaphoreRenewSource string
	//go:embed semaphore_release.lua
	semaphoreReleaseSource string

	semaphoreAcquire = redis.NewScript(semaphoreAcquireSource)
	semaphoreRenew   = redis.NewScript(semaphoreRenewSource)
	semaphoreRelease = redis.NewScript(semaphoreReleaseSource)
)

// Semaphore lets as many in as it has permits. It is a sorted set of its holders, each with the end of its own lease by
// the server's clock, and each of these is one script:
//
//	acquire: if ZCOUNT lock (now +inf < permits: ZADD lock now+ttl me; ZREMRANGEBYSCORE lock -inf now;
//	renew:   if ZSCORE lock me > now: ZADD lock now+ttl me;
//	release: ZREM lock me, PUBLISH to who waits.
//
// Source: J. L. Carlson, "Redis in Action", 6.3, "Counting semaphores", whose first has the same set, and the times of its
// clients' clocks: one that is behind is granted a permit that another holds. Here all times are the server's.
func Semaphore(permits int) lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-semaphore",
			Doc:        fmt.Sprintf("a sorted set of holders, of which there may be %d, each with a lease of its own by the server's clock", permits),
			Source:     `J. L. Carlson, "Redis in Action", 6.3, "Counting semaphores"`,
			Topologies: oneServer,
			Requests:   renewable,
			Reads:      listening,
			Takes:      "acquire",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true, Renewing: true, Push: true, LostNotice: true, Permits: permits},
			Expect:     compose.InRedis(compose.OnReplica(compose.RenewedOnWallClock(compose.Lease()))),
		},
		open: func(s session) lb.Client { return &semaphore{renewed{listener: listener{session: s}}, permits} },
	}
}

type semaphore struct {
	renewed
	permits int
}

func (c *semaphore) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	keys, ttl := []string{req.Lock}, c.env.TTL.Milliseconds()
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		return c.try(ctx, req, script{semaphoreAcquire, keys, []any{req.Owner, ttl, c.permits}}, script{semaphoreRenew, keys, []any{req.Owner, ttl}})
	})
}

func (c *semaphore) Release(ctx context.Context, req lb.Request) error {
	return c.release(ctx, req, script{semaphoreRelease, []string{req.Lock}, []any{req.Owner, freed(req.Lock)}})
}
