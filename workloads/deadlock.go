package workloads

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// knot is a deadlock: clients in a circle, each of which waits for a lock that the next
// relies on. None of them can go on before something else happens.
type knot struct {
	history.Span
	edges []edge
	how   string // it ended
}

// edge says that the client of an acquisition that waits is kept waiting by another,
// which holds the same lock.
type edge struct{ waits, holds int32 }

// deadlocks finds the circles that lasted for longer than some time, in the order of
// their begins. A client does one thing after the other, so it waits for one lock at most,
// and a circle closes only where somebody begins to wait: each wait is followed from
// holder to holder.
func deadlocks(ix *history.Index, longer lb.Instant) (knots []knot) {
	w := waiters{Index: ix, pending: slices.Repeat([]int32{history.None}, len(ix.Clients)), holds: make([][]int32, len(ix.Locks))}
	var asked, granted []int32
	for n := range ix.Acqs {
		if a := &ix.Acqs[n]; a.Asked {
			if asked = append(asked, int32(n)); a.Granted() {
				granted = append(granted, int32(n))
			}
		}
	}
	slices.SortFunc(asked, func(a, b int32) int {
		return cmp.Or(cmp.Compare(ix.Acqs[a].Call, ix.Acqs[b].Call), cmp.Compare(ix.Acqs[a].Order, ix.Acqs[b].Order))
	})
	slices.SortFunc(granted, func(a, b int32) int { return cmp.Compare(ix.Acqs[a].Return, ix.Acqs[b].Return) })
	for _, n := range asked {
		a := &ix.Acqs[n]
		for ; len(granted) > 0 && ix.Acqs[granted[0]].Return <= a.Call; granted = granted[1:] {
			lock := ix.Acqs[granted[0]].Lock
			w.holds[lock] = append(w.holds[lock], granted[0])
		}
		w.pending[a.Client] = n
		if edges := w.circle(n, a.Call, nil); edges != nil {
			if k := w.knot(a.Call, edges); k.To-k.From > longer {
				knots = append(knots, k)
			}
		}
	}
	return knots
}

// waiters are who waits and who holds, as time goes on.
type waiters struct {
	*history.Index
	pending []int32   // the last acquisition that each client asked for
	holds   [][]int32 // granted by then, and perhaps over, by lock
}

// circle follows from the acquisition that waits at t to who holds the lock and waits for
// another, and so on, until it comes back to the first.
func (w *waiters) circle(waits int32, t lb.Instant, path []edge) []edge {
	a := &w.Acqs[waits]
	w.holds[a.Lock] = slices.DeleteFunc(w.holds[a.Lock], func(n int32) bool {
		spans := w.Belief(&w.Acqs[n])
		return len(spans) == 0 || spans[len(spans)-1].To <= t
	})
	for _, h := range w.holds[a.Lock] {
		b := &w.Acqs[h]
		if _, relies := w.relies(h, t); !relies || a.Shared && b.Shared {
			continue
		}
		next := append(path[:len(path):len(path)], edge{waits, h})
		if b.Client == w.Acqs[next[0].waits].Client {
			return next
		}
		p := w.pending[b.Client]
		known := slices.ContainsFunc(next, func(e edge) bool { return e.waits == p })
		if p == history.None || known || w.Waited(p) <= t {
			continue
		}
		if found := w.circle(p, t, next); found != nil {
			return found
		}
	}
	return nil
}

// relies reports whether the client of a grant relies on it at t, and up to when.
func (w *waiters) relies(n int32, t lb.Instant) (end lb.Instant, relies bool) {
	for _, s := range w.Belief(&w.Acqs[n]) {
		if s.From <= t && t < s.To {
			return s.To, true
		}
	}
	return 0, false
}

// knot is the circle that closed at an instant, up to where it opened.
func (w *waiters) knot(from lb.Instant, edges []edge) knot {
	k := knot{Span: history.Span{From: from, To: history.Forever}, edges: edges}
	for _, e := range edges {
		waits, holds := &w.Acqs[e.waits], &w.Acqs[e.holds]
		if t, _ := w.relies(e.holds, from); t < k.To {
			k.To, k.how = t, "by the end of a lease"
			switch t {
			case w.Dead(holds):
				k.how = "by a death"
			case holds.Lost:
				k.how = "by the loss of a lock"
			}
		}
		if t := w.Waited(e.waits); t < k.To {
			k.To, k.how = t, "when a wait was given up"
			switch {
			case t == w.Dead(waits):
				k.how = "by a death"
			case t == w.End:
				k.how = "only with the run"
			case waits.Granted():
				k.how = "by a grant, though somebody relied on the lock"
			}
		}
	}
	return k
}

// finding tells who waited for whom.
func (k knot) finding(ix *history.Index) checker.Finding {
	var b strings.Builder
	for i, e := range k.edges {
		who, whose := &ix.Acqs[e.waits], &ix.Acqs[e.holds]
		if i == 0 {
			b.WriteString(ix.ClientName(who))
		}
		by := ix.ClientName(whose)
		fmt.Fprintf(&b, " waits for %s, held by %s", ix.Locks[who.Lock], by)
		if i < len(k.edges)-1 {
			b.WriteString(", who")
		}
	}
	fmt.Fprintf(&b, ", from %s to %s: it ended %s", sec(ix, k.From), sec(ix, k.To), k.how)
	f := checker.Finding{Mechanism: lb.Deadlock, Lock: ix.Locks[ix.Acqs[k.edges[0].waits].Lock], Sentence: b.String(), At: k.From, From: k.From, To: k.To}
	for _, e := range k.edges {
		waits, holds := &ix.Acqs[e.waits], &ix.Acqs[e.holds]
		f.IDs, f.From = append(f.IDs, ix.ID(holds), ix.ID(waits)), min(f.From, holds.Call)
		f.Circle = append(f.Circle, checker.Wait{Client: ix.ClientName(waits), Lock: ix.Locks[waits.Lock], Holder: ix.ClientName(holds)})
	}
	return f
}
