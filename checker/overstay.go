package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
)

// judgeOverstay looks for writes that were sent to the store under a lease that
// had ended. That is the hazard of every lease: nobody did anything wrong, and
// the store is hurt all the same. Each acquisition is one finding.
func judgeOverstay(r *run) lockbench.Layer {
	var f findings
	writes := 0
	seen := map[*acquisition]bool{}
	byLock := r.beliefsByLock()
	for _, e := range r.access {
		if e.Kind != lockbench.KindWrite {
			continue
		}
		writes++
		a := r.acqOf(e)
		if a == nil || seen[a] {
			continue
		}
		if ended, over := a.overstays(e.At); over {
			seen[a] = true
			f.add(func() lockbench.Finding { return r.overstayFinding(a, e, ended, byLock[r.lockNo[a.lock]]) })
		}
	}
	switch {
	case writes == 0:
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "no write to the protected store"}
	case f.count == 0:
		return f.layer(lockbench.Valid, "%s, all within their lease", count(writes, "write"))
	}
	return f.layer(lockbench.Invalid, "%s, %s with writes beyond the lease", count(writes, "write"), count(f.count, "acquisition"))
}

// overstays reports whether t lies after the end of the lease, and where that
// was. A release is no end of a lease.
func (a *acquisition) overstays(t lockbench.Instant) (ended lockbench.Instant, over bool) {
	if !a.granted() || t > a.dead || within(a.validity, t) {
		return 0, false
	}
	ended = min(orForever(a.until), a.lost)
	for _, s := range a.validity {
		if s.to < t {
			ended = s.to
		}
	}
	return ended, ended < t
}

func (r *run) overstayFinding(a *acquisition, e *lockbench.Event, ended lockbench.Instant, others []held) lockbench.Finding {
	f := lockbench.Finding{Mechanism: lockbench.Overstay, At: e.At, From: a.call, To: e.At, IDs: []string{a.id}}
	f.Sentence = fmt.Sprintf("%s wrote at %s, %s after %s", a.who(), r.sec(e.At), seconds(e.At.Sub(ended)), r.ending(a, ended))
	if q, ok := r.frozen(a.client, span{a.call, e.At}); ok {
		f.Sentence += fmt.Sprintf("; it was frozen from %s to %s", r.sec(q.from), r.sec(q.to))
	}
	var names []string
	for _, h := range meanwhile(others, span{ended, e.At}) {
		if h.acq.owner() == a.owner() {
			continue
		}
		if len(f.IDs) < keep {
			f.IDs = append(f.IDs, h.acq.id)
		}
		if name := h.acq.who(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		f.Sentence += "; meanwhile " + r.theLock(a.lock) + " was held by " + list(names)
	}
	return f
}

// ending says in words what ended a's lease at t.
func (r *run) ending(a *acquisition, t lockbench.Instant) string {
	if t == a.lost {
		return "it learned at " + r.sec(t) + " that its lock was lost"
	}
	return "its lease ended at " + r.sec(t)
}

// held is one stretch of belief with its acquisition.
type held struct {
	span
	acq *acquisition
}

// beliefsByLock lists all beliefs of each lock, by their begin.
func (r *run) beliefsByLock() [][]held {
	out := make([][]held, len(r.locks))
	for _, a := range r.acqs {
		for _, s := range a.belief {
			i := r.lockNo[a.lock]
			out[i] = append(out[i], held{s, a})
		}
	}
	for _, hs := range out {
		slices.SortStableFunc(hs, func(a, b held) int { return cmp.Compare(a.from, b.from) })
	}
	return out
}

// meanwhile lists the beliefs that overlap s, in the order of their begin.
func meanwhile(hs []held, s span) []held {
	var out []held
	for _, h := range hs {
		if h.overlaps(s) {
			out = append(out, h)
		}
	}
	return out
}
