package checker

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// A lock that its holder may take again needs no model of its own: an acquisition that lies within
// a hold of its own client adds nothing that the hold does not say already, so the
// grant check leaves it out, and what remains is a lock that nobody re-enters. That
// is exact while the inner hold ends before the outer; of any other order the model
// says nothing, and neither does the check.

// nested marks the acquisitions that lie within a hold of their own client. It
// returns an error where one reaches beyond it.
func (r *run) nested() (map[*acquisition]bool, error) {
	if !r.plan.Reentrant {
		return nil, nil
	}
	type place struct{ client, lock string }
	outer, inner := map[place]*acquisition{}, map[*acquisition]bool{}
	for _, a := range r.acqs { // in the order of their calls
		if a.client == "" || !a.granted() {
			continue
		}
		at := place{a.client, a.lock}
		o := outer[at]
		if o == nil || a.call < o.ret || a.call >= o.heldUntil() {
			outer[at] = a
			continue
		}
		if a.gone() > o.heldUntil() {
			return nil, fmt.Errorf("%s re-entered the lock with %q and held it beyond %q, within which it did: no model for that", a.client, a.id, o.id)
		}
		inner[a] = true
	}
	return inner, nil
}

// heldUntil is when the acquisition may have ceased to hold the lock.
func (a *acquisition) heldUntil() lockbench.Instant {
	return min(a.leaseEnd(), a.lost, a.dead, a.released())
}

// gone is when it has certainly ceased to.
func (a *acquisition) gone() lockbench.Instant {
	gone := min(a.leaseEnd(), a.lost, a.dead)
	for _, rel := range a.releases {
		if rel.result == lockbench.OK || rel.result == lockbench.Lost {
			gone = min(gone, rel.ret)
		}
	}
	return gone
}
