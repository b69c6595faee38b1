package workloads

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Reentrant is a holder that acquires what it holds, as a function does that is called
// by another under the same lock: it works inside, gives the inner hold back, and works
// on under the outer one, which it still has.
type Reentrant struct{}

// Info implements [Workload].
func (Reentrant) Info() Info {
	return Info{
		Name:     "reentrant",
		Doc:      "acquire again what is held, change a counter, give that back, and change it again under the first hold",
		Again:    true,
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
	}
}

// Open implements [Workload].
func (Reentrant) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return reentrantTask{k} })
}

type reentrantTask struct{ kit }

// Run implements [Task].
func (t reentrantTask) Run(ctx context.Context, s Session) error {
	work := t.adds(s)
	asked := ctx // which ends with the run: nobody waits for itself for longer
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		if err := under(asked, s, work, Ask{}); err != nil {
			return err
		}
		return work(ctx, held)
	}, Ask{})
}

// selfBound is, at most, how long a client may wait for what it holds: a round trip or two on a
// machine that is busy.
const selfBound = lb.Instant(500 * time.Millisecond)

// longestRoundTrip is that bound where a lease lasts longer, or else half a lease: with
// the lease of the outer hold the wait for itself ends, too.
func longestRoundTrip(plan history.Plan) lb.Instant {
	if plan.TTL == 0 {
		return selfBound
	}
	return min(selfBound, lb.Instant(plan.TTL/2))
}

// Judge implements [Judge]: nobody waits for itself, and the outer hold is still there
// when the inner one was given back.
func (Reentrant) Judge(ix *history.Index, plan history.Plan) checker.Layer {
	var f findings
	nested := nests(ix)
	for _, k := range deadlocks(ix, longestRoundTrip(plan)) {
		if len(k.edges) == 1 && calm(ix, k.Span) {
			f.add(func() checker.Finding { return k.finding(ix) })
		}
	}
	alone, grants := f.count, grantsOf(ix)
	for _, n := range nested {
		if d := n.intruder(ix, grants[n.outer.Lock]); d != nil {
			f.add(func() checker.Finding { return n.finding(ix, d) })
		}
	}
	if len(nested) == 0 && f.count == 0 {
		return vacuous("nobody held the lock twice")
	}
	say := english.Count(len(nested), "nested hold") + ", and the outer one was left each time"
	if f.count > 0 {
		say = fmt.Sprintf("%s, of which %d lost the outer one with the inner; clients waited for themselves %s",
			english.Count(len(nested), "nested hold"), f.count-alone, english.Count(alone, "time"))
	}
	return f.layer("%s", say)
}

// nest is an acquisition inside of another of the same client and lock.
type nest struct{ outer, inner *history.Acquisition }

// nests are those that were granted and given back in their order.
func nests(ix *history.Index) (all []nest) {
	last := map[int32]*history.Acquisition{} // of each client
	for n := range ix.Acqs {
		a := &ix.Acqs[n]
		if !a.Granted() {
			continue
		}
		if o := last[a.Client]; o != nil && o.Lock == a.Lock && ix.Released(o) > a.Return && ix.Released(a) < ix.Released(o) {
			all = append(all, nest{o, a})
		}
		last[a.Client] = a
	}
	return all
}

// intruder is another client's acquisition that was granted while the outer hold was all
// that its client relied on.
func (n nest) intruder(ix *history.Index, grants []*history.Acquisition) *history.Acquisition {
	from := ix.Released(n.inner)
	for _, s := range ix.Belief(n.outer) {
		i, _ := slices.BinarySearchFunc(grants, max(from, s.From)+1, func(a *history.Acquisition, t lb.Instant) int { return cmp.Compare(a.Return, t) })
		for ; i < len(grants) && grants[i].Return < s.To; i++ {
			if d := grants[i]; d.Client != n.outer.Client && slices.ContainsFunc(ix.Belief(d), func(b history.Span) bool {
				return max(b.From, s.From, from) < min(b.To, s.To) // it may hear of it when its own lease is over
			}) {
				return d
			}
		}
	}
	return nil
}

// grantsOf are the grants of each lock, in the order of time.
func grantsOf(ix *history.Index) [][]*history.Acquisition {
	all := make([][]*history.Acquisition, len(ix.Locks))
	for n := range ix.Acqs {
		if a := &ix.Acqs[n]; a.Granted() {
			all[a.Lock] = append(all[a.Lock], a)
		}
	}
	for _, grants := range all {
		slices.SortFunc(grants, func(a, b *history.Acquisition) int { return cmp.Compare(a.Return, b.Return) })
	}
	return all
}

func (n nest) finding(ix *history.Index, d *history.Acquisition) checker.Finding {
	until := "before it gave back the other"
	if t := ix.Released(n.outer); t < history.Forever {
		until += " at " + sec(ix, t)
	}
	return checker.Finding{Mechanism: lb.DoubleGrant, Lock: ix.Locks[d.Lock], At: d.Return, From: n.outer.Call, To: d.Return,
		IDs: []string{ix.ID(n.outer), ix.ID(n.inner), ix.ID(d)},
		Sentence: fmt.Sprintf("%s gave back one of its two holds at %s, and %s was granted the lock at %s, %s",
			ix.ClientName(n.outer), sec(ix, ix.Released(n.inner)), ix.ClientName(d), sec(ix, d.Return), until)}
}
