package checker

import (
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// minLeft is the least time for which a lock must stay taken that nobody has: a hand-off
// takes a few round trips.
const minLeft = 300 * time.Millisecond

// mustPass is how many grants of other locks pass by one that is kept: a late one lets a few pass.
const mustPass = 10

// LeftBehind finds the stretches in which somebody waited for a lock that nobody can have
// had, by all that the clients were told: every acquisition of it until then had failed,
// or was given back. A correct lock hands over at once; this one is kept for somebody who
// does not know, as one does that gave up waiting and is still in the queue. A stretch
// counts if it is longer than half a lease and 300 ms, if no fault was in force and every
// process ran, and if the lock service was well: it granted other locks all the while, so
// many that this one was passed by. Time alone does not tell on a machine on which everybody
// waits for a processor.
// Of many, the first few are told. Without a TTL in the plan there are none.
func LeftBehind(ix *history.Index, plan history.Plan) []Finding {
	if plan.TTL == 0 || ix.Error > 0 {
		return nil
	}
	r := newRun(plan, ix)
	limit := lb.Instant(max(minLeft, plan.TTL/2))
	disturbed, grants := r.disturbed(), r.grantTimes()
	var f findings
	for _, acqs := range r.ByLock() {
		for _, s := range r.waitedForNobody(acqs) {
			touched := slices.ContainsFunc(disturbed, func(d span) bool { return d.From <= s.To && s.From <= d.To })
			if s.To-s.From <= limit || touched || !within(grants, s, limit/2) || number(grants, s) < mustPass {
				continue
			}
			f.add(func() Finding { return r.leftFinding(acqs, s, grants) })
		}
	}
	return f.list
}

// grantTimes are those of all locks, in order.
func (r *run) grantTimes() (all []lb.Instant) {
	for i := range r.Acqs {
		if a := &r.Acqs[i]; a.Granted() {
			all = append(all, a.Return)
		}
	}
	slices.Sort(all)
	return all
}

// waitedForNobody is when somebody waited for a lock and nobody can have had it.
func (r *run) waitedForNobody(acqs []int32) []span {
	var waits, had []span
	for _, i := range acqs {
		a := &r.Acqs[i]
		if !a.Asked {
			continue
		}
		waits = append(waits, span{From: a.Call, To: r.Waited(i)})
		switch a.Result {
		case lb.AnswerOK:
			had = append(had, span{From: a.Return, To: r.GivenBack(a)})
		case lb.AnswerUnknown:
			if r.Waited(i) < r.End { // else it still waits
				had = append(had, span{From: a.Call, To: r.perhapsUntil(a)})
			}
		}
	}
	return history.Without(history.Union(waits), history.Union(had))
}

// perhapsUntil is how long a, of which no answer came, may have had the lock: until it was
// given back for certain, or for ever. A release that found nothing may have come before
// the request itself.
func (r *run) perhapsUntil(a *acquisition) lb.Instant {
	for rel := range r.Releases(a) {
		if rel.Result == lb.AnswerOK || rel.Result == lb.AnswerReleased {
			return r.GivenBack(a)
		}
	}
	return Forever
}

// within reports whether there is never a longer gap in s between two of the times.
func within(times []lb.Instant, s span, gap lb.Instant) bool {
	last := s.From
	from, _ := slices.BinarySearch(times, s.From)
	for ; from < len(times) && times[from] < s.To; from++ {
		if times[from]-last > gap {
			return false
		}
		last = times[from]
	}
	return s.To-last <= gap
}

// number is how many of the times are in s.
func number(times []lb.Instant, s span) int {
	from, _ := slices.BinarySearch(times, s.From)
	to, _ := slices.BinarySearch(times, s.To)
	return to - from
}

func (r *run) leftFinding(acqs []int32, s span, grants []lb.Instant) Finding {
	var waited []*acquisition
	for _, i := range acqs {
		if a := &r.Acqs[i]; a.Asked && a.Call < s.To && r.Waited(i) > s.From {
			waited = append(waited, a)
		}
	}
	f := r.finding(waited[0], waited[1:min(len(waited), keep)]...)
	f.Mechanism, f.At, f.From, f.To = lb.Ghost, s.From, s.From, s.To
	f.Sentence = fmt.Sprintf("nobody had %s from %s to %s, and nobody got it though %s waited, while other locks were granted %s",
		r.theLock(waited[0]), r.sec(s.From), r.sec(s.To), list(r.clientNames(waited)), english.Count(number(grants, s), "time"))
	return f
}
