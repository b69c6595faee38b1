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
	//go:embed rw_acquire.lua
	rwAcquireSource string
	//go:embed rw_renew.lua
	rwRenewSource string
	//go:embed rw_release.lua
	rwReleaseSource string

	rwAcquire = redis.NewScript(rwAcquireSource)
	rwRenew   = redis.NewScript(rwRenewSource)
	rwRelease = redis.NewScript(rwReleaseSource)
)

// ReadWrite lets many readers in, or one writer. The lock is a hash: its mode, and
// for each holder the end of its own lease, by the server's clock:
//
//	drop the holders whose lease is over;
//	if nobody is left, or all are readers as I am: HSET lock mode m me now+ttl;
//	renew and release my own field only; who releases PUBLISHes.
//
// A reader that died so keeps a writer out for one TTL, however often the others
// renew, and it frees nobody else's lock. Readers that come and go without a gap
// keep a writer out for ever. Source: the idea of Redisson's RReadWriteLock, which
// keeps the ends of the leases in keys of their own.
func ReadWrite() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-rw",
			Doc:        "a hash with the mode and each holder's own lease; shared and exclusive",
			Source:     "Redisson RReadWriteLock",
			Topologies: oneServer,
			Requests:   renewable,
			Reads:      listening,
			Takes:      "acquire",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true, Renewing: true, Push: true, Shared: true, LostNotice: true},
			Expect:     compose.InRedis(compose.OnReplica(compose.RenewedOnWallClock(compose.Lease()))),
		},
		open: func(s session) lb.Client { return &readWrite{renewed{listener: listener{session: s}}} },
	}
}

type readWrite struct{ renewed }

func (c *readWrite) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	mode := "write"
	if req.Shared {
		mode = "read"
	}
	keys, ttl := []string{req.Lock}, c.env.TTL.Milliseconds()
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		return c.try(ctx, req, script{rwAcquire, keys, []any{member(req), ttl, mode}}, script{rwRenew, keys, []any{member(req), ttl}})
	})
}

func (c *readWrite) Release(ctx context.Context, req lb.Request) error {
	return c.release(ctx, req, script{rwRelease, []string{req.Lock}, []any{member(req), freed(req.Lock)}})
}

// member is the holder's field in the hash, which no owner can mistake for "mode".
func member(req lb.Request) string { return "owner:" + req.Owner }
