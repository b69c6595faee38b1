package checker

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// ghostFinding tells of a lock that nobody holds and nobody gets, and names the
// acquisition that most likely left it behind.
func (r *run) ghostFinding(w *waiting, inVain []span) lockbench.Finding {
	from := inVain[0].From
	if _, healed, _ := r.faultTimes(); healed > from && healed < r.End { // from then on nobody has an excuse
		from = healed
	}
	f := lockbench.Finding{Mechanism: lockbench.Ghost, Lock: w.lock, At: from, From: from, To: r.End}
	askers := slices.DeleteFunc(slices.Clone(w.acqs), func(a *acquisition) bool {
		return a.Granted() || min(a.Return, r.Dead(a)) < from
	})
	f.Sentence = fmt.Sprintf("nobody got %s from %s to %s although %s asked",
		theLock(r.Locks, w.lock), r.sec(from), r.sec(r.End), list(r.clientNames(askers)))
	if a := r.suspect(w, from); a != nil {
		f.IDs, f.From = []string{r.ID(a)}, min(f.From, a.Call)
		f.Sentence += ": " + r.lastSeen(a)
	}
	return f
}

// suspect is the last acquisition before the silence that may have taken the lock
// and was never seen to give it back; failing that, the last that was granted.
func (r *run) suspect(w *waiting, from lockbench.Instant) *acquisition {
	var last, open *acquisition
	for _, a := range w.acqs {
		if a.Granted() && (last == nil || a.Return >= last.Return) {
			last = a
		}
		dead := r.Dead(a)
		died := dead < Forever && dead < a.Return
		unclear := a.Result == history.Unknown && a.Return < Forever
		mayHold := a.Granted() || died || unclear
		if mayHold && r.GivenBack(a) == Forever && min(a.Return, dead) <= from+lockbench.Instant(StuckAfter(r.plan.TTL)) &&
			(open == nil || r.weight(a) > r.weight(open) || r.weight(a) == r.weight(open) && a.Call >= open.Call) {
			open = a
		}
	}
	if open != nil {
		return open
	}
	return last
}

// weight orders suspects: a dead client explains more than a lost answer.
func (r *run) weight(a *acquisition) int {
	switch dead := r.Dead(a); {
	case dead < Forever && dead < r.Released(a):
		return 2
	case !a.Granted() || r.Released(a) < Forever:
		return 1
	}
	return 0
}

// lastSeen says what became of an acquisition.
func (r *run) lastSeen(a *acquisition) string {
	at := ""
	for _, st := range r.Steps {
		if st.Acq != none && &r.Acqs[st.Acq] == a {
			at = " at step " + st.Name
		}
	}
	if dead := r.Dead(a); dead < Forever && r.GivenBack(a) == Forever {
		return fmt.Sprintf("%s was killed%s at %s", r.who(a), at, r.sec(dead))
	}
	var last *history.Release
	for rel := range r.Releases(a) {
		last = rel
	}
	switch {
	case last != nil:
		return fmt.Sprintf("%s had called release at %s (%s)", r.who(a), r.sec(last.Call), last.Result)
	case a.Granted():
		return fmt.Sprintf("%s was granted it at %s and never released it", r.who(a), r.sec(a.Return))
	}
	return fmt.Sprintf("%s asked for it at %s and never learned the outcome%s", r.who(a), r.sec(a.Call), at)
}
