package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
)

// The phases of fault events that matter here.
const (
	phaseStrike = "strike"
	phaseHealed = "healed"
)

// StuckAfter is how long somebody must have asked in vain before a lock counts as
// stuck. Every lease in the way has ended by then, and every client has given up a
// server that it lost: after some seconds of silence TCP itself takes as long to
// speak up again, and an etcd server lets a request wait for six.
func StuckAfter(ttl time.Duration) time.Duration { return max(3*ttl, 10*time.Second) }

// judgeProgress asks whether the lock could be had again, and measures the
// longest time that it could not although somebody asked.
func judgeProgress(r *run) lockbench.Layer {
	strike, healed := r.faultTimes()
	if strike > 0 && healed == 0 {
		r.measureOutage(strike)
		return undecided(LayerProgress, "the fault struck at "+r.sec(strike)+" and was never healed")
	}
	lost := 0
	for _, a := range r.acqs {
		for _, rel := range a.releases {
			if rel.result == lockbench.Lost {
				lost++
			}
		}
	}
	waits := r.measureOutage(strike)
	if len(waits) == 0 {
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "nobody asked for a lock"}
	}
	var f findings
	for _, w := range waits {
		if !r.judgesProgress() {
			break
		}
		t := w.inVain(r, max(healed, r.start))
		if t.asked >= lockbench.Instant(StuckAfter(r.plan.TTL)) {
			f.add(func() lockbench.Finding { return r.ghostFinding(w, t) })
		} else if t.grants == 0 && healed > 0 {
			return undecided(LayerProgress, fmt.Sprintf("after the heal at %s nobody got %s, but it was asked for during %s only, of the %s it takes to say stuck",
				r.sec(healed), r.theLock(w.lock), seconds(time.Duration(t.asked)), seconds(time.Duration(lockbench.Instant(StuckAfter(r.plan.TTL))))))
		}
	}
	summary := fmt.Sprintf("longest time without a grant %s, %s of a lock not held any more", seconds(time.Duration(r.outage)), count(lost, "release"))
	if f.count > 0 {
		return f.layer(lockbench.Invalid, "nobody got the lock any more; %s", summary)
	}
	return f.layer(lockbench.Valid, "%s", summary)
}

// judgesProgress reports whether a lock that nobody gets is a finding. In a
// history without a plan or a fault nobody knows what else went wrong.
func (r *run) judgesProgress() bool { return r.plan.Algorithm != "" || len(r.faults) > 0 }

// faultTimes are the first strike and the last heal, 0 for none.
func (r *run) faultTimes() (strike, healed lockbench.Instant) {
	for _, e := range r.faults {
		switch e.Phase {
		case phaseStrike:
			if strike == 0 {
				strike = e.At
			}
		case phaseHealed:
			healed = e.At
		}
	}
	return strike, healed
}

// waiting is who asked for one lock, and when it was granted.
type waiting struct {
	lock   string
	acqs   []*acquisition
	grants []lockbench.Instant
	asking []span // merged
}

// measureOutage finds the longest stretch between two grants of a lock, as far as
// somebody was asking meanwhile. Stretches that ended before the strike don't count.
func (r *run) measureOutage(strike lockbench.Instant) []waiting {
	var all []waiting
	for i, acqs := range r.perLock(func(a *acquisition) bool { return a.asked > 0 }) {
		if len(acqs) == 0 {
			continue
		}
		w := waiting{lock: r.locks[i], acqs: acqs, asking: r.asking(acqs)}
		for _, a := range acqs {
			if a.granted() {
				w.grants = append(w.grants, a.ret)
			}
		}
		slices.Sort(w.grants)
		all = append(all, w)
		from, asking := r.start, w.asking
		for _, to := range append(slices.Clone(w.grants), r.end) {
			for len(asking) > 0 && asking[0].to <= from {
				asking = asking[1:]
			}
			if to > strike {
				r.outage = max(r.outage, length(asking, span{from, to}))
			}
			from = to
		}
	}
	return all
}

// asking merges the times at which some client wanted the lock. A client that
// polls asks from its first try to its last, not only while a try is under way.
func (r *run) asking(acqs []*acquisition) []span {
	next := map[string]lockbench.Instant{} // by client: its next call, going backwards
	var spans []span
	for _, a := range slices.Backward(acqs) {
		to := min(a.ret, a.dead, max(r.end, a.call))
		if n, ok := next[a.owner()]; ok && !a.granted() {
			to = max(to, min(n, r.end))
		}
		next[a.owner()] = a.call
		spans = append(spans, span{a.call, to})
	}
	return union(spans)
}

// union sorts spans and merges those that touch.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// length is how much of s the sorted, disjoint spans cover.
func length(spans []span, s span) lockbench.Instant {
	var sum lockbench.Instant
	for _, x := range spans {
		if x.from >= s.to {
			break
		}
		sum += max(0, min(x.to, s.to)-max(x.from, s.from))
	}
	return sum
}

// without removes b from a; both are sorted and disjoint.
func without(a, b []span) []span {
	var out []span
	for _, s := range a {
		for _, x := range b {
			if x.to <= s.from || x.from >= s.to {
				continue
			}
			if s.from < x.from {
				out = append(out, span{s.from, x.from})
			}
			s.from = x.to
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// tail is the time after the last grant.
type tail struct {
	span
	asked   lockbench.Instant // how long somebody asked although nobody held the lock
	grants  int               // since the heal
	clients []string
}

// inVain looks at the time after the heal and the last grant.
func (w *waiting) inVain(r *run, healed lockbench.Instant) tail {
	t := tail{span: span{healed, r.end}}
	for _, g := range w.grants {
		if g >= healed {
			t.grants, t.from = t.grants+1, g
		}
	}
	var beliefs []span
	var askers []*acquisition
	for _, a := range w.acqs {
		for _, s := range a.belief {
			if s.overlaps(t.span) {
				beliefs = append(beliefs, s)
			}
		}
		if !a.granted() && (span{a.call, min(a.ret, a.dead)}).overlaps(t.span) {
			askers = append(askers, a)
		}
	}
	t.clients = clientNames(askers)
	t.asked = length(without(w.asking, union(beliefs)), t.span)
	return t
}
