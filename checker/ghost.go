package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// ghostFinding tells of a lock that nobody holds and nobody gets, and names the
// acquisitions that may own it.
func (r *run) ghostFinding(w *waiting, inVain []span) Finding {
	to := r.End
	if r.plan.Traits.Semaphore() {
		to = inVain[0].To
	}
	from := r.withoutExcuse(span{From: inVain[0].From, To: to})
	f := Finding{Mechanism: lb.Ghost, Lock: w.lock, At: from, From: from, To: to}
	askers := slices.DeleteFunc(slices.Clone(w.acqs), func(a *acquisition) bool {
		return a.Granted() || min(a.Return, r.Dead(a)) < from || r.plan.Traits.Semaphore() && a.Call > to
	})
	if r.plan.Traits.Semaphore() || len(askers) == 0 { // who was granted it in the end had asked, too
		askers = slices.DeleteFunc(slices.Clone(w.acqs), func(a *acquisition) bool {
			return a.Granted() && a.Return < to || min(a.Return, r.Dead(a)) < from || a.Call > to
		})
	}
	who := "nobody"
	if n := r.plan.Traits.AtOnce(); n > 1 {
		who = fmt.Sprintf("not all of the %d who may at once", n)
	}
	f.Sentence = fmt.Sprintf("%s got %s from %s to %s although %s asked",
		who, theLock(r.Locks, w.lock), r.sec(from), r.sec(to), list(r.clientNames(askers)))
	owners := r.owners(w, from)
	for _, a := range owners {
		f.IDs, f.From = append(f.IDs, r.ID(a)), min(f.From, a.Call)
	}
	if len(owners) == 0 { // it was taken some time after it was granted last
		f.From = min(f.From, w.lastGrant(r))
	}
	if why := r.blame(w, owners, from); why != "" {
		f.Sentence += ": " + why
	}
	return f
}

// withoutExcuse is the instant in s from which on no fault explains why nobody gets a lock:
// its begin, or where the last fault was healed.
func (r *run) withoutExcuse(s span) lb.Instant {
	if _, healed, _ := r.faultTimes(); healed > s.From && healed < s.To {
		return healed
	}
	return s.From
}

// claim is how well an acquisition explains that a lock is taken which nobody relies on.
type claim int

const (
	noClaim   claim = iota
	faint           // its acquire had ended long before, and would have to take effect late
	waits           // its acquire waited already: the lock may be its own, and nobody tells it
	failed          // its acquire failed after the lock had been granted last, and may have left something behind
	mayOwn          // what became of its acquire or its release is not known
	certainly       // it was granted the lock last, and nobody has tried to give it back
)

// owners are those whose lock it may be at an instant at which nobody gets it: the
// acquisitions with the best claim, in the order of their calls.
func (r *run) owners(w *waiting, at lb.Instant) (best []*acquisition) {
	last := w.lastBefore(at)
	claimed := noClaim
	for _, a := range w.acqs {
		c := r.claim(a, last, at)
		if c > claimed {
			claimed, best = c, nil
		}
		if c == claimed && c > noClaim {
			best = append(best, a)
		}
	}
	slices.SortStableFunc(best, func(a, b *acquisition) int { return cmp.Compare(a.Call, b.Call) })
	if claimed == failed { // of each client the last: one that polls is refused often
		best = slices.DeleteFunc(slices.Clone(best), func(a *acquisition) bool {
			return slices.ContainsFunc(best, func(b *acquisition) bool { return b.Client == a.Client && b.Call > a.Call })
		})
	}
	return best[:min(len(best), keep)]
}

// lastBefore is the acquisition that was granted last by then, or nil.
func (w *waiting) lastBefore(at lb.Instant) (last *acquisition) {
	for _, a := range w.acqs {
		if a.Granted() && a.Return <= at && (last == nil || a.Return >= last.Return) {
			last = a
		}
	}
	return last
}

// claim weighs what is known of a at an instant at which nobody gets the lock, which
// was granted last to last: whoever had it before has it no more.
func (r *run) claim(a, last *acquisition, at lb.Instant) claim {
	if a.Granted() {
		shared := r.plan.Traits.Semaphore() || last != nil && a.Shared && last.Shared
		switch {
		case a.Return > at || r.GivenBack(a) <= at || a != last && !shared, r.plan.Traits.Semaphore() && r.tookBack(a):
			return noClaim
		case r.Released(a) > at:
			return certainly
		}
		return mayOwn
	}
	over := min(a.Return, r.Dead(a))
	if a.Result == lb.AnswerFailed && a.Call < at && (last == nil || a.Return >= last.Return) {
		return failed
	}
	switch {
	case a.Result != lb.AnswerUnknown || a.Call >= at || r.tookBack(a):
		return noClaim
	case over > at:
		return waits
	case last != nil && over < last.Return || r.GivenBack(a) <= at:
		return faint
	}
	return mayOwn
}

// tookBack reports whether a release found that a had the lock, and gave it back.
func (r *run) tookBack(a *acquisition) bool {
	for rel := range r.Releases(a) {
		if rel.Result == lb.AnswerOK {
			return true
		}
	}
	return false
}

// blame says what is known of the possible owners, or, where nobody can be one, of the
// last that was granted the lock.
func (r *run) blame(w *waiting, owners []*acquisition, at lb.Instant) string {
	switch last := w.lastBefore(at); {
	case len(owners) == 0 && last == nil:
		return ""
	case len(owners) == 0:
		return fmt.Sprintf("who owns it is not known: %s, who was granted it last, had given it back at %s", r.who(last), r.sec(r.GivenBack(last)))
	}
	const most = 3
	var who, seen []string
	for _, a := range owners {
		if name := r.ClientName(a); !slices.Contains(who, name) {
			who = append(who, name)
		}
		if len(seen) < most {
			seen = append(seen, r.lastSeen(a))
		}
	}
	if r.claim(owners[0], w.lastBefore(at), at) <= failed { // as good as anybody's
		return "who owns it is not known: " + strings.Join(seen, "; ")
	}
	if len(who) < 2 {
		return seen[len(seen)-1]
	}
	return "the owner may be " + strings.Join(who[:len(who)-1], ", ") + " or " + who[len(who)-1] + ": " + strings.Join(seen, "; ")
}

// lastSeen says what became of an acquisition.
func (r *run) lastSeen(a *acquisition) string {
	stood := func(word string) (at string) {
		for _, st := range r.Steps {
			if st.Acq != none && &r.Acqs[st.Acq] == a {
				at = word + st.Name
			}
		}
		return at
	}
	if dead := r.Dead(a); dead < Forever && r.GivenBack(a) == Forever {
		return fmt.Sprintf("%s was killed at %s%s", r.who(a), r.sec(dead), stood(", having been seen last at step "))
	}
	var last *history.Release
	for rel := range r.Releases(a) {
		last = rel
	}
	switch {
	case last != nil:
		by := r.who(a)
		if last.Client != a.Client && a.Client != none {
			by = r.Clients[last.Client].Name + ", for " + by + ","
		}
		return fmt.Sprintf("%s had called release at %s (%s)", by, r.sec(last.Call), last.Result)
	case a.Granted():
		return fmt.Sprintf("%s was granted it at %s and never released it", r.who(a), r.sec(a.Return))
	case a.Result == lb.AnswerFailed:
		return fmt.Sprintf("%s had asked for it at %s and failed at %s", r.who(a), r.sec(a.Call), r.sec(a.Return))
	}
	return fmt.Sprintf("%s asked for it at %s and never learned the outcome%s", r.who(a), r.sec(a.Call), stood(" at step "))
}
