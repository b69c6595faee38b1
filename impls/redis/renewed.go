package redis

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// renewed is a session whose leases are renewed until they are released.
type renewed struct {
	listener
	renewals compose.Held[func()] // by owner, what ends them
}

// renewable are the requests of the algorithms that renew.
var renewable = []string{"acquire", "subscribe", "unsubscribe", "renew", "release"}

// try asks for the lock by a script that answers 0 for a grant, and else how many
// milliseconds it is taken for. The lease is renewed by another.
func (r *renewed) try(ctx context.Context, req lb.Request, acquire, renew script) (lease *lb.Lease, wait time.Duration, err error) {
	sent, err := r.run(ctx, r.rdb, req, "acquire", acquire, func(left int64) error {
		wait = r.untilFree(left)
		return taken(left == 0)
	})
	if err != nil {
		return nil, wait, compose.Unsent(err)
	}
	lease = r.env.Grant(req, 0, r.env.Validity(sent))
	r.renewals.Put(req.Owner, compose.Renew(r.env, lease, func(ctx context.Context) error {
		_, err := r.run(ctx, r.rdb, req, "renew", renew, released)
		return err
	}))
	return lease, 0, nil
}

// release gives the lock back by a script that returns 0 where this owner did not
// hold it. The renewals end before: a lock that can't be released must at least expire.
func (r *renewed) release(ctx context.Context, req lb.Request, release script) error {
	r.letGo(req.Owner)
	_, err := r.run(ctx, r.rdb, req, "release", release, released)
	return err
}

// letGo ends the renewals of an owner.
func (r *renewed) letGo(owner string) {
	if stop, ok := r.renewals.Get(owner); ok {
		stop()
		r.renewals.Drop(owner)
	}
}

// Close ends all renewals: the locks of a session that is gone expire.
func (r *renewed) Close() error {
	for _, stop := range r.renewals.All() {
		stop()
	}
	return r.listener.Close()
}
