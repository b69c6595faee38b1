package memcached

import (
	"context"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/memcached"
)

// AddDelete is the lock that many periodic jobs take:
//
//	add lock 0 seconds bytes owner     NOT_STORED: held, try again
//	delete lock
//
// The delete does not look whose item it removes. memcached counts whole seconds, so that an item is asked for that is
// kept for up to three seconds longer than the lease, and for less only by what the server is late to look at its clock,
// see [seconds]. Source: memcached's wiki, page
// "ProgrammingTricks", on locks.
func AddDelete() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "memcached-add-delete",
			Doc:        "add with an expiry that is up to three seconds longer than the lease; release by a plain delete",
			Source:     `memcached wiki, "ProgrammingTricks"`,
			Topologies: []string{"memcached"},
			Requests:   []string{"add", "delete"},
			Takes:      "add",
			InMemory:   true,
			MinTTL:     minTTL,
			Traits:     lb.Traits{Leased: true},
			Expect:     anyDelete(),
		},
		open: func(s *session) lb.Client { return addDelete{s} },
	}
}

type addDelete struct{ *session }

func (c addDelete) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) { return c.take(ctx, req) })
}

func (c addDelete) Release(ctx context.Context, req lb.Request) error {
	_, err := c.ask(ctx, req, "delete", func(ctx context.Context, conn *backend.Conn) error {
		deleted, err := conn.Delete(ctx, key(req.Lock))
		return released(deleted, err)
	})
	return err
}

// released is what it means that a release has found an item, or has not.
func released(found bool, err error) error {
	if err == nil && !found {
		return lb.ErrLost
	}
	return err
}
