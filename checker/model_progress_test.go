package checker_test

import (
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// modelProgress looks at every stretch of time in which nothing changes.
func modelProgress(h history.Events, plan history.Plan) checker.Verdict {
	w := see(h, plan)
	judged := plan.Algorithm != "" || len(w.faults) > 0
	if !judged || !slices.ContainsFunc(w.acqs, func(a *hold) bool { return a.client != "" }) {
		return checker.Vacuous
	}
	var healed lb.Instant = -1
	open := false
	for _, f := range w.faults {
		if f.to == never {
			open = true
		}
	}
	for _, ev := range w.events {
		if ev.Kind == history.KindFault && ev.Phase == "healed" {
			healed = max(healed, ev.At)
		}
	}
	limit := max(10*time.Second, 3*plan.TTL)
	anyAsked, anyGranted, starved := false, false, false
	for _, lock := range w.locks {
		acqs := w.of(lock)
		last := lb.Instant(-1)
		for _, a := range acqs {
			if a.granted() && a.ret.t <= w.end { // a grant after the end may be owed to who gave up
				last = max(last, a.ret.t)
			}
		}
		granted := last >= healed
		anyGranted = anyGranted || granted
		var stuck, waited time.Duration
		w.each(func(from, to lb.Instant) {
			if to > w.end || !w.asked(acqs, from+to) {
				return
			}
			anyAsked = anyAsked || from >= healed // for more than an instant
			if w.spoken(acqs, from+to) {
				return
			}
			if from >= last && !w.faulty(from+to) {
				stuck += to.Sub(from)
			}
			if from >= healed && !granted {
				waited += to.Sub(from)
			}
		})
		if stuck >= limit {
			return checker.Invalid
		}
		starved = starved || waited > time.Second
	}
	if open || healed >= 0 && (anyAsked && !anyGranted || starved) {
		return checker.Undecided
	}
	return checker.Valid
}

// asked: "while an acquire of it waits, up to its return, its client's next call, the
// death of its process or the end (or the last event), and not while its process is silent. From the return of one that was not
// granted to the next call of an acquire of that lock, whoever's, it is asked for, too,
// if that comes within a second".
func (w *world) asked(acqs []*hold, twice lb.Instant) bool {
	for _, a := range acqs {
		if a.client == "" {
			continue
		}
		if twice >= 2*a.call.t && twice <= 2*min(a.ret.t, w.nextCall(a), w.deadOf(a.client), w.end) && !w.silent(a.client, twice) {
			return true
		}
		if a.ret.t == never || a.granted() || twice < 2*a.ret.t || w.plan.GivesUp {
			continue
		}
		next := never
		for _, b := range acqs {
			// One at the t of the return may have come after it, unless it was the same client's.
			if b.client != "" && (b.call.at > a.ret.at || b.call.t == a.ret.t && a != b && b.client != a.client) {
				next = min(next, b.call.t)
			}
		}
		if next.Sub(a.ret.t) <= time.Second && twice <= 2*min(next, w.end) {
			return true
		}
	}
	return false
}

// nextCall is when the client of an acquire calls again.
func (w *world) nextCall(a *hold) lb.Instant {
	for i, ev := range w.events {
		if i > a.call.at && ev.Kind == history.KindCall && ev.Client == a.client {
			return ev.At
		}
	}
	return never
}

// spoken: "from a grant to the end of its lease; without an end, to the first lost, the
// death of the process or the client's own first call of a release; in any case no longer
// than to the return of a release with ok, lost or released."
func (w *world) spoken(acqs []*hold, twice lb.Instant) bool {
	for _, a := range acqs {
		if !a.granted() {
			continue
		}
		to := max(a.lease(), a.leaseWith(never, a.maybeBefore)) // at one t of two clients what says less
		if to == never {
			to = min(a.lost, w.deadOf(a.client))
			for _, r := range a.releases {
				if r.client == a.client && r.call.at > a.ret.at {
					to = min(to, r.call.t)
				}
			}
		}
		for _, r := range a.releases {
			if r.result == lb.AnswerOK || r.result == lb.AnswerLost || r.result == lb.AnswerReleased {
				to = min(to, r.ret.t)
			}
		}
		if twice > 2*a.ret.t && (to == never || twice < 2*to) {
			return true
		}
	}
	return false
}

func (w *world) silent(client string, twice lb.Instant) bool {
	for _, s := range w.silences {
		if s.name == w.homes[client] && 2*s.from < twice && twice < 2*s.to {
			return true
		}
	}
	return false
}

func (w *world) faulty(twice lb.Instant) bool {
	for _, f := range w.faults {
		if 2*f.from < twice && (f.to == never || twice < 2*f.to) {
			return true
		}
	}
	return false
}
