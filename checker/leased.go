package checker

import (
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// leaseSlack is how much later than two leases a lock may come back: the last renewal of
// a holder that died may not have been recorded, and a client that polls pauses.
const leaseSlack = 2 * time.Second

// vain is a stretch between two grants in which a lock was asked for and nobody relied on it.
type vain struct {
	span
	w *waiting
}

// vainStretches lists them, for each lock in the order of time; of a semaphore as long as one client asked.
func (r *run) vainStretches(waits []waiting) (all []vain) {
	for i := range waits {
		w := &waits[i]
		for _, s := range w.without(r.spoken(w)) {
			all = append(all, vain{s, w})
		}
	}
	return all
}

// spoken is when a lock was spoken for, of a semaphore all permits: at each grant, were it for no time.
func (r *run) spoken(w *waiting) (spans []span) {
	for _, a := range w.acqs {
		if a.Granted() {
			spans = append(spans, r.spokenFor(a))
		}
	}
	return history.Crowded(spans, r.plan.Traits.AtOnce())
}

// tellOutage tells of the longest of these stretches if it is longer than a lease, or "".
func (r *run) tellOutage(waits []waiting) string {
	var worst vain
	for _, v := range r.vainStretches(waits) {
		if v.To-v.From > worst.To-worst.From {
			worst = v
		}
	}
	if ttl := r.plan.TTL; ttl == 0 || worst.To.Sub(worst.From) <= ttl {
		return ""
	}
	return r.vainly(worst) + r.faultsDuring(worst.span)
}

func (r *run) vainly(v vain) string {
	who := "nobody"
	if n := r.plan.Traits.AtOnce(); n > 1 {
		who = fmt.Sprintf("not all of the %d who may at once", n)
	}
	s := fmt.Sprintf("%s could get %s for %s from %s on, longer than its lease of %v", who, theLock(r.Locks, v.w.lock),
		seconds(v.To.Sub(v.From)), r.sec(v.From), r.plan.TTL)
	at := r.withoutExcuse(v.span)
	if why := r.blame(v.w, r.owners(v.w, at), at); why != "" {
		s += " (" + why + ")"
	}
	return s
}

// judgeLeased asks whether a lock that its holder left behind came back by itself. A
// stretch counts in which nothing was in force, neither now nor until just before: no
// fault, and every worker ran.
func judgeLeased(r *run) Layer {
	if r.plan.TTL == 0 {
		return Layer{Verdict: Vacuous, Summary: "the plan names no TTL"}
	}
	if r.Error > 0 { // what touches a stretch is not known then
		return Layer{Verdict: Vacuous, Summary: "not judged where clocks err"}
	}
	limit := lb.Instant(2*r.plan.TTL + leaseSlack)
	disturbed := r.disturbed()
	var f findings
	for _, v := range r.vainStretches(r.waits()) {
		if v.To-v.From <= limit || slices.ContainsFunc(disturbed, func(d span) bool { return d.From <= v.To && v.From <= d.To }) {
			continue
		}
		f.add(func() Finding {
			return Finding{Mechanism: lb.Ghost, Lock: v.w.lock, Sentence: r.vainly(v), At: v.From + limit, From: v.From, To: v.To}
		})
	}
	if f.count > 0 {
		return f.layer(Invalid, "%s", f.list[0].Sentence)
	}
	return f.layer(Valid, "no lock stayed taken for more than %v after its lease while no fault was in force and every process ran", time.Duration(limit))
}

// disturbed is when a fault was in force, or a worker did not run.
func (r *run) disturbed() (spans []span) {
	for i := range r.Faults {
		spans = append(spans, r.Faults[i].Span())
	}
	for i := range r.Workers {
		spans = append(spans, r.Workers[i].Silences...)
	}
	return history.Union(spans)
}
