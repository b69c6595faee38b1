package checker

import (
	"cmp"
	"math"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// waiting is who asked for one lock, and when it was granted.
type waiting struct {
	lock   string
	acqs   []*acquisition
	grants []lb.Instant
	asking []span // merged
	each   []wish // of a semaphore, by client
}

// wish is when one client asked for a semaphore, broken where it was granted.
type wish struct {
	asking  []span
	granted []span // instants
}

func (r *run) waits() []waiting {
	var all []waiting
	for lock, acqs := range r.ByLock() {
		w := waiting{lock: r.Locks[lock], acqs: r.those(acqs, func(a *acquisition) bool { return a.Asked })}
		if len(w.acqs) == 0 {
			continue
		}
		for _, a := range w.acqs {
			if a.Granted() && !r.afterStop(a) {
				w.grants = append(w.grants, a.Return)
			}
		}
		slices.Sort(w.grants)
		w.asking = r.asking(acqs)
		if r.plan.Traits.Semaphore() {
			w.each = r.wishes(acqs)
		}
		all = append(all, w)
	}
	return all
}

// wishes is who asked for a semaphore, each client for itself.
func (r *run) wishes(acqs []int32) (all []wish) {
	of := map[int32][]int32{}
	var clients []int32
	for _, i := range acqs {
		c := r.Acqs[i].Client
		if !r.Acqs[i].Asked {
			continue
		}
		if of[c] == nil {
			clients = append(clients, c)
		}
		of[c] = append(of[c], i)
	}
	for _, c := range clients {
		w := wish{asking: r.asking(of[c])}
		for _, i := range of[c] {
			if a := &r.Acqs[i]; a.Granted() {
				w.granted = append(w.granted, span{From: a.Return, To: a.Return})
			}
		}
		all = append(all, w)
	}
	return all
}

// without is when the lock was asked for and not was not: of a semaphore, of which others may be granted what they
// ask for, stretches in which one client asked and was granted none, of those that overlap the longest.
func (w *waiting) without(not []span) (all []span) {
	if w.each == nil {
		return history.Without(w.asking, not)
	}
	var own []span
	for _, c := range w.each {
		own = append(own, history.Without(c.asking, history.Union(slices.Concat(not, c.granted)))...)
	}
	slices.SortStableFunc(own, func(a, b span) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	for _, s := range own {
		i, _ := slices.BinarySearchFunc(all, s, func(a, s span) int { return cmp.Compare(a.From, s.From) })
		if (i == 0 || !all[i-1].Overlaps(s)) && (i == len(all) || !all[i].Overlaps(s)) {
			all = slices.Insert(all, i, s)
		}
	}
	return all
}

// afterStop reports whether a was surely granted after the clients had been told to stop: one
// that gives up may make way for another, and only because the run is over.
func (r *run) afterStop(a *acquisition) bool { return r.Ended && a.Return-4*r.Error > r.End }

// asking is when somebody wanted the lock: an acquire waited and its process ran, or
// there was a pause between a try in vain and the next.
func (r *run) asking(acqs []int32) []span {
	var spans []span
	asked := slices.DeleteFunc(slices.Clone(acqs), func(i int32) bool { return !r.Acqs[i].Asked })
	slices.SortFunc(asked, func(i, k int32) int {
		return cmp.Or(cmp.Compare(r.Acqs[i].Call, r.Acqs[k].Call), cmp.Compare(r.Acqs[i].Order, r.Acqs[k].Order))
	})
	runs := r.runs(asked)
	for _, i := range asked {
		a := &r.Acqs[i]
		s := span{From: a.Call + 2*r.Error, To: min(r.Waited(i)-2*r.Error, r.End)}
		if silences := r.SilentIn(a.Client, s); len(silences) > 0 {
			spans = append(spans, history.Without([]span{s}, history.Union(silences))...)
		} else if s.From < s.To {
			spans = append(spans, s)
		}
		if a.Granted() || a.Return == Forever || r.plan.GivesUp {
			continue
		}
		if next := r.nextCall(asked, runs, a); next-a.Return+4*r.Error <= pollGap {
			spans = append(spans, span{From: a.Return, To: min(next, r.End)})
		}
	}
	return history.Union(spans)
}

// runs gives for each call where the calls of its client begin, without one of another
// client in between.
func (r *run) runs(asked []int32) []int32 {
	begin := make([]int32, len(asked))
	for i := range asked {
		if begin[i] = int32(i); i > 0 && r.Acqs[asked[i]].Client == r.Acqs[asked[i-1]].Client {
			begin[i] = begin[i-1]
		}
	}
	return begin
}

// nextCall is when somebody asked next after a returned. In the same instant that may
// be anybody else, or a's client after a.
func (r *run) nextCall(asked, runs []int32, a *acquisition) lb.Instant {
	call := func(i int32, t lb.Instant) int { return cmp.Compare(r.Acqs[i].Call, t) }
	from, _ := slices.BinarySearchFunc(asked, a.Return, call)
	to, _ := slices.BinarySearchFunc(asked, a.Return+1, call)
	if last := to - 1; last >= from {
		b := &r.Acqs[asked[last]]
		if b.Client != a.Client || b.Order > a.Order || int(runs[last]) > from {
			return a.Return
		}
	}
	if to == len(asked) {
		return Forever
	}
	return r.Acqs[asked[to]].Call
}

// lastGrant is when the lock was granted for the last time, or the run's start.
func (w *waiting) lastGrant(r *run) lb.Instant {
	if n := len(w.grants); n > 0 {
		return w.grants[n-1]
	}
	return r.Start
}

func (w *waiting) grantedSince(t lb.Instant) bool {
	return len(w.grants) > 0 && w.grants[len(w.grants)-1] >= t
}

// outage is the longest stretch after the strike between two grants, as far as
// somebody was asking meanwhile, and nobody did long work.
func (w *waiting) outage(r *run, strike lb.Instant) (longest lb.Instant) {
	from := max(r.Start, strike)
	asking := history.Without(w.asking, r.longWork(w))
	for i := 0; i <= len(w.grants); i++ {
		to := r.End
		if i < len(w.grants) {
			to = w.grants[i]
		}
		for len(asking) > 0 && asking[0].To <= from {
			asking = asking[1:]
		}
		longest = max(longest, history.Length(asking, span{From: from, To: to}))
		from = max(from, to)
	}
	return longest
}

// longWork is when as many holders as there may be, whose processes ran, relied on the lock, where the plan says that some
// work for long: nobody else can expect to get it then.
func (r *run) longWork(w *waiting) (spans []span) {
	if r.plan.Work == "" || r.plan.Work == history.NoWork {
		return nil
	}
	for _, a := range w.acqs {
		for _, s := range r.Belief(a) {
			spans = append(spans, history.Without([]span{s}, history.Union(r.SilentIn(a.Client, s)))...)
		}
	}
	return history.Crowded(spans, r.plan.Traits.AtOnce())
}

// atTheEnd is when, after its last grant, the lock was asked for in vain. Of a semaphore others may still be granted
// the permits that are left: of it, it is the longest stretch in which one client asked and was granted none, after all of
// them were spoken for last.
func (w *waiting) atTheEnd(r *run) []span {
	if !r.plan.Traits.Semaphore() {
		return w.inVain(r, w.lastGrant(r))
	}
	since := r.Start
	for _, s := range r.spoken(w) {
		since = max(since, s.To)
	}
	all := w.inVain(r, min(since, r.End))
	if len(all) == 0 {
		return nil
	}
	return []span{slices.MaxFunc(all, func(a, b span) int { return cmp.Compare(a.To-a.From, b.To-b.From) })}
}

// inVain is when, from since to the end of the run, the lock was asked for, not spoken
// for, and no fault was in force.
func (w *waiting) inVain(r *run, since lb.Instant) []span {
	not := append([]span{{From: math.MinInt64, To: since}, {From: r.End, To: Forever}}, r.spoken(w)...)
	for i := range r.Faults {
		not = append(not, r.Faults[i].Span())
	}
	return w.without(history.Union(not))
}

// total is how long the spans are together.
func total(spans []span) lb.Instant {
	return history.Length(spans, span{From: math.MinInt64, To: Forever})
}

// spokenFor is how long nobody else can expect to get the lock after a grant: to the
// end of its lease, or, without one, as long as its client relies on it.
func (r *run) spokenFor(a *acquisition) span {
	to := r.LatestLeaseEnd(a)
	unleased := min(a.Lost, r.Dead(a), r.Released(a))
	if to == Forever {
		to = unleased
	}
	if r.Error > 0 { // as long as may be
		if a.Until == 0 {
			to = max(to, unleased)
		}
		for rn := range r.Renewals(a) {
			to = max(to, rn.Until)
		}
		to = min(to, Forever-2*r.Error) + 2*r.Error
	}
	from := a.Return - 2*r.Error
	return span{From: from, To: max(from, min(to, r.GivenBack(a)))} // it may be over when it is heard of
}
