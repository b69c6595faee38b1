package checker

import (
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// StuckAfter is how long somebody must have asked in vain before a lock counts as
// stuck. Every lease in the way has ended by then, and every client has given up a
// server that it lost: after some seconds of silence TCP itself takes as long to
// speak up again, and an etcd server lets a request wait for six.
func StuckAfter(ttl time.Duration) time.Duration { return max(3*ttl, 10*time.Second) }

// pollGap is the longest pause after a try in vain that still counts as asking, if
// somebody asks again by then: clients that poll pause between their tries.
const pollGap = lb.Instant(time.Second)

// judgeProgress asks whether the lock could be had again, and measures the
// longest time that it could not although somebody asked.
func judgeProgress(r *run) Layer {
	waits := r.waits()
	if len(waits) == 0 {
		return Layer{Verdict: Vacuous, Summary: "nobody asked for a lock"}
	}
	strike, healed, unhealed := r.faultTimes()
	for i := range waits {
		r.outage = max(r.outage, waits[i].outage(r, strike))
	}
	r.outageTold = r.tellOutage(waits)
	summary := fmt.Sprintf("longest time asked for without a grant %s, %s of a lock not held any more", seconds(time.Duration(r.outage)), english.Count(r.lostReleases(), "release"))
	if r.outageTold != "" {
		summary += "; " + r.outageTold
	}
	var f findings
	for i := range waits {
		if v := waits[i].atTheEnd(r); r.judgesProgress() && total(v) >= lb.Instant(StuckAfter(r.plan.TTL)) {
			f.add(func() Finding { return r.ghostFinding(&waits[i], v) })
		}
	}
	switch {
	case f.count > 0:
		return f.layer(Invalid, "%s any more; %s", r.notHad(f.list[0].Lock), summary)
	case unhealed != nil:
		return undecided(LayerProgress, fmt.Sprintf("%s struck at %s and was never healed", unhealed.Name, r.sec(unhealed.Strike)))
	}
	if why := r.tooShort(waits, healed); why != "" && r.judgesProgress() {
		return undecided(LayerProgress, why)
	}
	return f.layer(Valid, "%s", summary)
}

// notHad says of a lock that nobody got it, or of a semaphore less than that.
func (r *run) notHad(lock string) string {
	if r.plan.Traits.Semaphore() {
		return fmt.Sprintf("not all of the %d permits of %s could be had", r.plan.Traits.AtOnce(), theLock(r.Locks, lock))
	}
	return "nobody got " + theLock(r.Locks, lock)
}

// tooShort says why a lock may be stuck though it was not asked for long enough to
// say so, or "".
func (r *run) tooShort(waits []waiting, healed lb.Instant) string {
	if healed < 0 {
		return ""
	}
	asked, granted := false, false
	for i := range waits {
		w := &waits[i]
		asked = asked || history.Length(w.asking, span{From: healed, To: r.End}) > 0
		granted = granted || w.grantedSince(healed)
	}
	for i := range waits {
		w := &waits[i]
		v := w.inVain(r, healed)
		if r.plan.Traits.Semaphore() && w.grantedSince(healed) {
			if v = w.atTheEnd(r); total(v) > pollGap && v[0].To > healed {
				return fmt.Sprintf("after the heal at %s a permit of %s was missing at the end, but it was asked for in vain during %s only, of the %s it takes to say stuck",
					r.sec(healed), theLock(r.Locks, w.lock), seconds(time.Duration(total(v))), seconds(StuckAfter(r.plan.TTL)))
			}
			continue
		}
		if asked && !granted && len(w.asking) > 0 || !w.grantedSince(healed) && total(v) > pollGap {
			return fmt.Sprintf("after the heal at %s nobody got %s, but it was asked for in vain during %s only, of the %s it takes to say stuck",
				r.sec(healed), theLock(r.Locks, w.lock), seconds(time.Duration(total(v))), seconds(StuckAfter(r.plan.TTL)))
		}
	}
	return ""
}

// judgesProgress reports whether a lock that nobody gets is a finding. In a
// history without a plan or a fault nobody knows what else went wrong.
func (r *run) judgesProgress() bool {
	return r.plan.Algorithm != "" || slices.ContainsFunc(r.Faults, func(f history.Fault) bool { return f.Struck })
}

// faultTimes are the first strike and the last heal, -1 for none, and a fault that
// was never healed.
func (r *run) faultTimes() (strike, healed lb.Instant, unhealed *history.Fault) {
	strike, healed = -1, -1
	for i := range r.Faults {
		f := &r.Faults[i]
		if f.Struck && (strike < 0 || f.Strike < strike) {
			strike = f.Strike
		}
		if f.Healed == Forever {
			unhealed = f
		} else {
			healed = max(healed, f.Healed)
		}
	}
	return strike, healed, unhealed
}

func (r *run) lostReleases() int {
	n := 0
	for i := range r.Acqs {
		for rel := range r.Releases(&r.Acqs[i]) {
			if rel.Result == lb.AnswerLost {
				n++
			}
		}
	}
	return n
}
