package checker

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

// A lock that claims to be fair is convicted by what can't be chance: so many grants out
// of turn, and such a share of those for which somebody waited.
const (
	unfairGrants = 5
	unfairShare  = 0.1
	leastTrip    = lb.Instant(10 * time.Millisecond)
)

// judgeFair asks whether grants came in the order in which they were asked for. When a
// request arrived nobody knows: a grant is out of turn if it was called only after
// another request must have arrived, that still waited then, of a client that nothing had
// hindered. Whom a fault did not strike it does not excuse.
func judgeFair(r *run) Layer {
	calm := r.calmness()
	trip := r.roundTrip(calm)
	var f findings
	contended := 0
	for _, acqs := range r.ByLock() {
		n := r.turns(r.queue(acqs, calm), trip, &f)
		if r.Error > 0 { // of how many it is a share must not be too few
			n = r.turns(r.mayQueue(acqs), trip, &findings{})
		}
		contended += n
	}
	told := fmt.Sprintf("%s that somebody waited for, %d out of turn by more than %v", english.Count(contended, "grant"), f.count, time.Duration(trip))
	switch {
	case contended == 0:
		return Layer{Verdict: Vacuous, Summary: "nobody waited for a lock"}
	case f.count >= unfairGrants && float64(f.count) > unfairShare*float64(contended):
		return f.layer(Invalid, "%s: %s", told, f.list[0].Sentence)
	}
	return Layer{Verdict: Valid, Summary: told}
}

// roundTrip bounds how long a request takes to arrive: twice what the slowest release
// took of a client that nothing hindered, which never has to wait for anybody.
func (r *run) roundTrip(calm calmness) lb.Instant {
	longest := leastTrip
	for i := range r.Acqs {
		a := &r.Acqs[i]
		for rel := range r.Releases(a) {
			if rel.Result == OK && calm.until(rel.Client, rel.Call+4*r.Error) >= rel.Return-4*r.Error {
				longest = max(longest, rel.Return-rel.Call)
			}
		}
	}
	return 2 * longest
}

// waiter is an acquire that stood in the queue, as far as it is known.
type waiter struct {
	*acquisition
	until lb.Instant
}

// queue lists the exclusive acquires of a lock that had to wait: those that were refused
// did not queue.
func (r *run) queue(acqs []int32, calm calmness) (all []waiter) {
	all = r.mayQueue(acqs)
	for i := range all {
		w := &all[i]
		w.until = min(w.until-2*r.Clients[w.Client].Error, calm.until(w.Client, w.Call))
	}
	return all
}

// mayQueue lists them as if nothing had hindered anybody.
func (r *run) mayQueue(acqs []int32) (all []waiter) {
	for _, i := range acqs {
		a := &r.Acqs[i]
		if !a.Asked || a.Shared || !a.Granted() && a.Return < Forever {
			continue
		}
		all = append(all, waiter{a, r.Waited(i)})
	}
	slices.SortFunc(all, func(a, b waiter) int { return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Order, b.Order)) })
	return all
}

// turns walks through the grants in their order, with those who wait, the first to call in
// front. It returns for how many somebody waited.
func (r *run) turns(all []waiter, trip lb.Instant, f *findings) (contended int) {
	grants := slices.DeleteFunc(slices.Clone(all), func(w waiter) bool { return !w.Granted() })
	slices.SortStableFunc(grants, func(a, b waiter) int { return cmp.Compare(a.Return, b.Return) })
	relied := map[int32]lb.Instant{} // how long each client relied on the lock
	var waiting waiters
	for _, b := range grants {
		for ; len(all) > 0 && all[0].Call < b.Return; all = all[1:] {
			heap.Push(&waiting, all[0])
		}
		for len(waiting) > 0 && waiting[0].until <= b.Return {
			heap.Pop(&waiting)
		}
		if r.plan.Traits.Semaphore() { // all of them are looked at below
			waiting = slices.DeleteFunc(waiting, func(w waiter) bool { return w.until <= b.Return })
			heap.Init(&waiting)
		}
		entered := r.plan.Traits.Reentrant && relied[b.Client] > b.Call
		for _, s := range r.Belief(b.acquisition) {
			relied[b.Client] = max(relied[b.Client], s.To)
		}
		if len(waiting) == 0 || entered {
			continue
		}
		contended++
		a := waiting[0]
		if r.plan.Traits.Semaphore() {
			// Who is granted one within a trip had it, perhaps, and had not yet heard of it.
			waited := slices.DeleteFunc(slices.Clone(waiting), func(w waiter) bool { return w.until <= b.Return+trip })
			if len(waited) == 0 {
				continue
			}
			a = slices.MinFunc(waited, func(a, b waiter) int { return cmp.Compare(a.Call, b.Call) })
		}
		if a.Client != b.Client && a.Call+trip+2*r.Clients[a.Client].Error < b.Call {
			f.add(func() Finding { return r.fairFinding(a.acquisition, b.acquisition) })
		}
	}
	return contended
}

// waiters is a heap by the time of the call.
type waiters []waiter

func (w waiters) Len() int           { return len(w) }
func (w waiters) Less(i, j int) bool { return w[i].Call < w[j].Call }
func (w waiters) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *waiters) Push(x any)        { *w = append(*w, x.(waiter)) }
func (w *waiters) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

func (r *run) fairFinding(a, b *acquisition) Finding {
	f := r.finding(a, b)
	f.At, f.From, f.To = b.Return, a.Call, min(b.Return, r.End)
	f.Sentence = fmt.Sprintf("%s asked for %s at %s and was granted it at %s, while %s had waited since %s",
		r.who(b), r.theLock(b), r.sec(b.Call), r.sec(b.Return), r.who(a), r.sec(a.Call))
	return f
}
