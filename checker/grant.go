package checker

import (
	"cmp"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// GrantResult is what [Grant] found. Exactly one of Witness and Violations is
// set, unless Err says why the operations can't be judged.
type GrantResult struct {
	Err        error
	Witness    Witness
	Violations []Violation
	// Count is the number of violations, of which Violations holds the first few.
	Count int

	causes forest
}

// Witness is a legal order: for every operation that took effect the instant at
// which it may have done so. The points of one lock stand in order.
type Witness []Point

// Point says that the operation took effect at an instant.
type Point struct {
	At   lb.Instant
	Op   int32 // its index
	rank uint8 // order among points of one instant
}

// At one instant a lock is first given back, then passed through windows, then
// found not to be held, then taken again.
const (
	rankFree uint8 = iota
	rankWindow
	rankLost
	rankTake
)

// Violation is a set of operations that no legal order contains.
type Violation struct {
	Ops  []int32 // indexes, in the order of their calls
	What string  // in a few words
	// Partial says that Ops are not all: too many holds, one after the other, have a
	// part in it.
	Partial bool
}

// Grant decides in O(n log n) whether the operations are linearizable for locks
// with owners, of which so many may hold one at once. That is exact because ids are never reused: then each acquisition
// either certainly holds its lock over a known stretch, or it needs a single
// instant inside a known window, and everything else can be left out.
func Grant(ops []Op, permits int) GrantResult {
	g := grant{ops: ops, permits: permits}
	g.findTies()
	if err := g.gather(); err != nil {
		return GrantResult{Err: err}
	}
	g.shape()
	g.placeRest()
	g.sweep()
	if g.result.Count > 0 || g.result.Err != nil {
		g.result.Witness = nil
	}
	return g.result
}

// most is how many violations are kept; one is enough for a verdict.
const most = 1000

const (
	whileHeld     = "granted while it was held"
	lostWhileHeld = "lost while it was held"
)

// tenure is one acquisition: its operations by index, and the stretch in which
// it certainly holds the lock (from == to: none).
type tenure struct {
	acquire, release, maybe int32 // the ok release, and the first that may have ended it, best one that is not tied
	from, to                lb.Instant
}

// hold is a stretch in which a lock is certainly held.
type hold struct {
	from, to        lb.Instant
	lock, id, owner int32
	shared          bool
}

// window is where something needs a single instant: an acquisition of which
// nothing but its end is sure, or a release behind the end of its hold (to is then the
// instant already chosen).
type window struct {
	from, to    lb.Instant
	op, end     int32 // end is none for such a release
	lock, owner int32
	shared      bool
}

type grant struct {
	ops     []Op
	permits int
	tenures []tenure
	holds   []hold
	windows []window
	ties    map[moment][]tie
	wrong   map[int32]bool // locks with a violation
	locks   int32
	result  GrantResult
}

func (g *grant) violation(what string, ops ...int32) *Violation {
	g.result.Count++
	ops = slices.DeleteFunc(ops, func(i int32) bool { return i == none })
	if g.wrong == nil {
		g.wrong = map[int32]bool{}
	}
	g.wrong[g.ops[ops[0]].Lock] = true
	for _, i := range ops[1:] {
		g.link(g.ops[ops[0]].ID, g.ops[i].ID)
	}
	if g.enough() {
		return &Violation{}
	}
	slices.SortFunc(ops, func(a, b int32) int { return cmp.Compare(g.ops[a].Call, g.ops[b].Call) })
	g.result.Violations = append(g.result.Violations, Violation{Ops: slices.Compact(ops), What: what})
	return &g.result.Violations[len(g.result.Violations)-1]
}

// enough reports whether no more violations are kept.
func (g *grant) enough() bool { return len(g.result.Violations) >= most }

// gather collects the operations of each acquisition.
func (g *grant) gather() error {
	ids := int32(0)
	for i, op := range g.ops {
		if op.ID < 0 || op.Lock < 0 || op.Return < op.Call {
			return fmt.Errorf("operation %d is malformed: %+v", i, op)
		}
		if g.permits > 1 && (op.Shared || op.Owner > 0) {
			return fmt.Errorf("operation %d: a semaphore has no shared mode, and is not reentrant", i)
		}
		ids, g.locks = max(ids, op.ID+1), max(g.locks, op.Lock+1)
	}
	g.tenures = make([]tenure, ids)
	for i := range g.tenures {
		g.tenures[i] = tenure{acquire: none, release: none, maybe: none}
	}
	for i, op := range g.ops {
		if err := g.assign(int32(i), op); err != nil {
			return err
		}
	}
	return nil
}

func (g *grant) assign(i int32, op Op) error {
	t := &g.tenures[op.ID]
	switch {
	case op.Kind == Acquire:
		if t.acquire != none {
			return fmt.Errorf("acquisition %d is asked for twice: ids must not be reused", op.ID)
		}
		t.acquire = i
	case op.Kind == Expire || op.Result == Unknown || op.Result == Released:
		if t.maybe == none || op.Call < g.ops[t.maybe].Call || op.Call == g.ops[t.maybe].Call && g.tied(t.maybe) && !g.tied(i) {
			t.maybe = i
		}
	case op.Result == OK && t.release != none:
		g.violation("released twice", t.acquire, t.release, i)
	case op.Result == OK:
		t.release = i
	}
	return nil
}

// shape turns acquisitions into holds and windows.
func (g *grant) shape() {
	g.holds = make([]hold, 0, len(g.tenures))
	for id := range g.tenures {
		t := &g.tenures[id]
		if t.acquire == none || g.ops[t.acquire].Result == Fail {
			if t.release != none {
				g.violation("released without having been granted", t.acquire, t.release)
			}
			continue
		}
		a := g.ops[t.acquire]
		if a.Result != OK && t.release == none {
			continue // it may never have happened
		}
		granted, end := g.granted(t), t.ends()
		if end == none || granted < g.ops[end].Call {
			t.from, t.to = granted, Forever
			if end != none {
				t.to = g.ops[end].Call
			}
			if t.from < t.to {
				g.holds = append(g.holds, hold{t.from, t.to, a.Lock, int32(id), a.owner(), a.Shared})
			}
			continue
		}
		w := g.window(t)
		if w.to < w.from {
			g.violation("released before it was asked for", t.acquire, end)
			continue
		}
		g.windows = append(g.windows, w)
	}
}

// window is that of an acquisition which needs a single instant.
func (g *grant) window(t *tenure) window {
	a, end := &g.ops[t.acquire], &g.ops[t.ends()]
	return window{max(a.Call, end.Call), min(g.granted(t), end.Return), t.acquire, t.ends(), a.Lock, a.owner(), a.Shared}
}

// granted is until when the grant may still be to come.
func (g *grant) granted(t *tenure) lb.Instant {
	if a := &g.ops[t.acquire]; a.Result == OK {
		return a.Return
	}
	return Forever
}

// ended is the operation that ended an acquisition in the witness, or none.
func (g *grant) ended(t *tenure) int32 {
	if t.release == none && (t.acquire == none || g.ops[t.acquire].Result != OK) {
		return none // it never took place
	}
	return t.ends()
}

// ends is the operation that ended a hold, or none.
func (t *tenure) ends() int32 {
	if t.release != none {
		return t.release
	}
	return t.maybe
}

// placeRest checks the releases that ended nothing: they found that they did not hold
// the lock, or are done with it, whoever ended the hold.
func (g *grant) placeRest() {
	for i, op := range g.ops {
		if op.Kind != Release || op.Result != Lost && op.Result != Released {
			continue
		}
		t := &g.tenures[op.ID]
		if g.ended(t) == int32(i) {
			continue
		}
		at := op.Call
		if t.from < t.to && (op.Call > t.from || op.After) {
			at = max(op.Call, t.to)
		} else if t.acquire != none && op.After && op.Call < g.ops[t.acquire].Return {
			at = min(g.ops[t.acquire].Return, op.Return) // clocks err: it comes after the instant in which it held
		}
		if at > op.Return {
			what := lostWhileHeld
			if op.Result == Released {
				what = "released twice"
			}
			g.violation(what, t.acquire, int32(i), t.ends())
			continue
		}
		g.windows = append(g.windows, window{from: at, to: at, op: int32(i), end: none, lock: op.Lock})
	}
}

// sweep walks each lock once: its holds must not overlap (shared ones may, and so many as there are permits), and
// each window needs an instant outside them.
func (g *grant) sweep() {
	slices.SortFunc(g.holds, func(a, b hold) int {
		return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	slices.SortFunc(g.windows, func(a, b window) int {
		return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.from, b.from), cmp.Compare(a.op, b.op))
	})
	g.result.Witness = make(Witness, 0, 2*(len(g.holds)+len(g.windows)))
	holds, windows := g.holds, g.windows
	for lock := range g.locks {
		var h []hold
		var w []window
		h, holds = cut(holds, func(h hold) bool { return h.lock == lock })
		w, windows = cut(windows, func(w window) bool { return w.lock == lock })
		if g.disjoint(h) {
			g.place(lock, h, w)
		}
	}
}

// cut splits s after the leading elements that match.
func cut[T any](s []T, match func(T) bool) (head, tail []T) {
	n := 0
	for n < len(s) && match(s[n]) {
		n++
	}
	return s[:n], s[n:]
}
