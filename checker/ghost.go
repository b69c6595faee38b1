package checker

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// ghostFinding tells of a lock that nobody holds and nobody gets, and names the
// acquisition that most likely left it behind.
func (r *run) ghostFinding(w waiting, t tail) lockbench.Finding {
	f := lockbench.Finding{Mechanism: lockbench.Ghost, At: t.from, From: t.from, To: t.to}
	f.Sentence = fmt.Sprintf("nobody got %s from %s to %s although %s asked",
		r.theLock(w.lock), r.sec(t.from), r.sec(t.to), list(t.clients))
	if a := r.suspect(w, t); a != nil {
		f.IDs, f.From = []string{a.id}, min(f.From, a.call)
		f.Sentence += ": " + r.lastSeen(a)
	}
	return f
}

// suspect is the last acquisition before the silence that may have taken the lock
// and was never seen to give it back; failing that, the last that was granted.
func (r *run) suspect(w waiting, t tail) *acquisition {
	var last, open *acquisition
	for _, a := range w.acqs {
		if a.granted() && (last == nil || a.ret >= last.ret) {
			last = a
		}
		died := a.dead < Forever && a.dead < a.ret
		unclear := a.result == lockbench.Unknown && a.ret < Forever
		mayHold := a.granted() || died || unclear
		if mayHold && !a.gaveBack() && min(a.ret, a.dead) <= t.from+lockbench.Instant(StuckAfter(r.plan.TTL)) &&
			(open == nil || a.weight() > open.weight() || a.weight() == open.weight() && a.call >= open.call) {
			open = a
		}
	}
	if open != nil {
		return open
	}
	return last
}

// weight orders suspects: a dead client explains more than a lost answer.
func (a *acquisition) weight() int {
	switch {
	case a.dead < Forever && a.dead < a.released():
		return 2
	case !a.granted() || len(a.releases) > 0:
		return 1
	}
	return 0
}

// gaveBack reports whether a release of a certainly ended it.
func (a *acquisition) gaveBack() bool {
	for _, rel := range a.releases {
		if rel.result == lockbench.OK || rel.result == lockbench.Lost {
			return true
		}
	}
	return false
}

// lastSeen says what became of an acquisition.
func (r *run) lastSeen(a *acquisition) string {
	at := ""
	if step := r.steps[a.id]; step != "" {
		at = " at step " + step
	}
	switch {
	case a.dead < Forever && !a.gaveBack():
		return fmt.Sprintf("%s was killed%s at %s", a.who(), at, r.sec(a.dead))
	case len(a.releases) > 0:
		rel := a.releases[len(a.releases)-1]
		return fmt.Sprintf("%s had called release at %s (%s)", a.who(), r.sec(rel.call), rel.result)
	case a.granted():
		return fmt.Sprintf("%s was granted it at %s and never released it", a.who(), r.sec(a.ret))
	}
	return fmt.Sprintf("%s asked for it at %s and never learned the outcome%s", a.who(), r.sec(a.call), at)
}
