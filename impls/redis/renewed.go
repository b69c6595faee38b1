package redis

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
)

// renewed is a session whose leases are renewed until they are released.
type renewed struct {
	listener
	renewals renewals
}

// renewals are those of a session, by owner.
type renewals struct{ lb.Held[renewal] }

// letGo ends the renewals of an owner.
func (r *renewals) letGo(owner string) {
	if held, ok := r.Get(owner); ok {
		held.stop()
		r.Drop(owner)
	}
}

// letAllGo ends all renewals.
func (r *renewals) letAllGo() {
	for _, held := range r.All() {
		held.stop()
	}
}

// renewal is a lease that is renewed, and what ends that.
type renewal struct {
	lease *lb.Lease
	stop  func()
}

// renewable are the requests of the algorithms that renew.
var renewable = []string{"acquire", "subscribe", "unsubscribe", "renew", "release"}

// listening are those that only say who wants to hear of a release. How many do is what PUBLISH answers,
// which no script of these locks looks at.
var listening = []string{"subscribe", "unsubscribe"}

// try asks for the lock by a script that answers 0 for a grant, and else how many
// milliseconds it is taken for. The lease is renewed by another.
func (r *renewed) try(ctx context.Context, req lb.Request, acquire, renew script) (lease *lb.Lease, wait time.Duration, err error) {
	return r.tryAs(ctx, req, acquire, renew, func(left int64) bool { return left == 0 })
}

// tryAs is try for a script whose grants another function knows by its answer.
func (r *renewed) tryAs(ctx context.Context, req lb.Request, acquire, renew script, granted func(int64) bool) (lease *lb.Lease, wait time.Duration, err error) {
	sent, err := r.run(ctx, r.rdb, req, "acquire", acquire, func(left int64) error {
		wait = r.untilFree(left)
		return taken(granted(left))
	})
	if err != nil {
		return nil, wait, lb.Unsent(err)
	}
	lease = r.env.Grant(req, 0, r.env.Validity(sent))
	r.renewals.Put(req.Owner, renewal{lease, lease.Renew(func(ctx context.Context) error {
		_, err := r.run(ctx, r.rdb, req, "renew", renew, released)
		return err
	})})
	return lease, 0, nil
}

// release gives the lock back by a script that returns 0 where this owner did not
// hold it. The renewals end before: a lock that can't be released must at least expire.
func (r *renewed) release(ctx context.Context, req lb.Request, release script) error {
	r.renewals.letGo(req.Owner)
	_, err := r.run(ctx, r.rdb, req, "release", release, released)
	return err
}

// lose ends the renewals of an owner who has lost the lock, and says so, unless the
// lock is being given back.
func (r *renewed) lose(owner, reason string) {
	if held, ok := r.renewals.Get(owner); ok {
		r.renewals.letGo(owner)
		held.lease.Lose(reason)
	}
}

// Close ends all renewals: the locks of a session that is gone expire.
func (r *renewed) Close() error {
	r.renewals.letAllGo()
	return r.listener.Close()
}
