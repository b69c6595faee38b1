package checker_test

import (
	"time"

	lb "github.com/lockbench/lockbench"
)

// modelProgress looks at every stretch of time in which nothing changes.
func modelProgress(h lb.History, plan lb.Plan) lb.Verdict {
	w := see(h, plan)
	judged := plan.Algorithm != "" || len(w.faults) > 0
	if !judged {
		return lb.Valid
	}
	var healed lb.Instant = -1
	open := false
	for _, f := range w.faults {
		if f.to == never {
			open = true
			continue
		}
		healed = max(healed, f.to)
	}
	limit := max(10*time.Second, 3*plan.TTL)
	anyAsked, anyGranted, starved := false, false, false
	for _, lock := range w.locks {
		acqs := w.of(lock)
		last := lb.Instant(-1)
		for _, a := range acqs {
			if a.granted() {
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
			if from >= healed {
				anyAsked = true
			}
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
			return lb.Invalid
		}
		starved = starved || waited > time.Second
	}
	if open || healed >= 0 && (anyAsked && !anyGranted || starved) {
		return lb.Undecided
	}
	return lb.Valid
}

// asked: "while an acquire of it waits, up to its return, the death of its process or
// the end, and not while its process is silent. From the return of one that was not
// granted to the next call of an acquire of that lock, whoever's, it is asked for, too,
// if that comes within a second".
func (w *world) asked(acqs []*hold, twice lb.Instant) bool {
	for _, a := range acqs {
		if a.client == "" {
			continue
		}
		if twice > 2*a.call.t && twice < 2*min(a.ret.t, w.deadOf(a.client), w.end) && !w.silent(a.client, twice) {
			return true
		}
		if known.emptyPolls && a.ret.t == a.call.t {
			continue
		}
		if a.ret.t == never || a.granted() || twice < 2*a.ret.t {
			continue
		}
		next := never
		for _, b := range acqs {
			if b.client != "" && (b.call.at > a.ret.at || known.emptyPolls && b.call.t == a.ret.t) {
				next = min(next, b.call.t)
			}
		}
		if next.Sub(a.ret.t) <= time.Second && twice < 2*next {
			return true
		}
	}
	return false
}

// spoken: "from a grant to the end of its lease; without an end, to the first lost, the
// death of the process or the client's own first call of a release; in any case no longer
// than to the return of a release with ok or lost."
func (w *world) spoken(acqs []*hold, twice lb.Instant) bool {
	for _, a := range acqs {
		if !a.granted() {
			continue
		}
		to := a.lease(never)
		if to == never {
			to = min(a.lost, w.deadOf(a.client))
			for _, r := range a.releases {
				if r.client == a.client && r.call.at > a.ret.at {
					to = min(to, r.call.t)
				}
			}
		}
		for _, r := range a.releases {
			if r.result == lb.OK || r.result == lb.Lost {
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
