package redis

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// renewed is a session whose leases are renewed until they are released.
type renewed struct {
	listener
	renewals compose.Held[func()] // by owner, what ends them
}

// hold makes the lease of a request that was granted, and renews it. The script
// behind renew returns 0 where the lock is no longer this owner's.
func (r *renewed) hold(req lb.Request, call lb.Instant, renew func(context.Context) (int64, error)) *lb.Lease {
	lease := r.env.Grant(req, 0, r.env.Validity(call))
	r.renewals.Put(req.Owner, compose.Renew(r.env, lease, func(ctx context.Context) error {
		if err := r.env.Step(ctx, "before-renew", req); err != nil {
			return err
		}
		n, err := renew(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("redis: renew: %w", err)
		case n == 0:
			return lb.ErrLost
		}
		return r.env.Step(ctx, "after-renew", req)
	}))
	return lease
}

// letGo ends the renewals of an owner. It comes before the release: a lock that
// can't be released must at least expire.
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
