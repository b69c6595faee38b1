package checker

import (
	"cmp"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// Instants are places for points, not an order of them: what one client does in one instant it
// does one after the other all the same. Where it is so, the points of that instant are arranged
// by a search; histories with fine clocks have none.

// tie is two operations of one client on one lock: the first returned in the instant in which the
// second was called.
type tie struct{ before, after int32 }

// moment is an instant of one lock.
type moment struct {
	lock int32
	at   lb.Instant
}

// findTies goes through the operations in the order in which they were called.
func (g *grant) findTies() {
	last, clients := uint32(0), int32(0)
	for _, op := range g.ops {
		last, clients = max(last, op.Order), max(clients, op.Client+1)
	}
	if last == 0 {
		return
	}
	called := slices.Repeat([]int32{none}, int(last)+1)
	for i, op := range g.ops {
		if op.Order > 0 {
			called[op.Order] = int32(i)
		}
	}
	g.ties = map[moment][]tie{}
	returned := make([][]int32, clients) // of each client, what returned last, all in one instant
	for _, i := range called {
		if i == none {
			continue
		}
		op := &g.ops[i]
		now := returned[op.Client]
		if n := len(now); n > 0 && g.ops[now[n-1]].Return < op.Call {
			now = now[:0]
		}
		for _, k := range slices.Backward(now) {
			if g.ops[k].Lock == op.Lock && g.ops[k].Return == op.Call {
				at := moment{op.Lock, op.Call}
				g.ties[at] = append(g.ties[at], tie{k, i})
				break // what came before that is tied to it
			}
		}
		if op.definite() {
			now = append(now, i)
		}
		returned[op.Client] = now
	}
}

// tied reports whether something ties the operation to the instant of its call.
func (g *grant) tied(i int32) bool {
	op := &g.ops[i]
	return slices.ContainsFunc(g.ties[moment{op.Lock, op.Call}], func(t tie) bool { return t.after == i })
}

// untie puts the points of one lock into an order that each client's own allows.
func (g *grant) untie(points []Point, barrierOf func(shared bool) *barrier) []Point {
	var out []Point
	moved := map[int32]bool{} // what could have stayed, had others not
	held := 0                 // permits of a semaphore
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n].At == points[0].At {
			n++
		}
		now := points[:n:n]
		points = points[n:]
		ties := g.ties[moment{g.ops[now[0].Op].Lock, now[0].At}]
		through := held - g.number(now, rankFree)
		order, ok := g.arrange(now, ties, through)
		if !ok && g.result.Err == nil {
			stay, later := g.postpone(now, barrierOf)
			if order, ok = g.arrange(stay, ties, through); !ok {
				g.entangled(stay, ties, moved, through)
			}
			for _, p := range later {
				id := g.ops[p.Op].ID
				_, moved[p.Op] = g.arrange(without(now, func(q Point) bool {
					return g.ops[q.Op].ID != id && slices.ContainsFunc(later, func(l Point) bool { return l.Op == q.Op })
				}), ties, through)
				i, _ := slices.BinarySearchFunc(points, p, byRank)
				for i < len(points) && byRank(points[i], p) == 0 {
					i++ // an acquire stays in front of its end
				}
				points = slices.Insert(points, i, p)
			}
		}
		out = append(out, order...)
		held = through + g.number(now, rankTake)
	}
	return out
}

// without are the points that do not match.
func without(points []Point, match func(Point) bool) []Point {
	return slices.DeleteFunc(slices.Clone(points), match)
}

func byRank(a, b Point) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.rank, b.rank)) }

// postpone takes those points out of an instant that have another place later, and gives them that.
func (g *grant) postpone(points []Point, barrierOf func(shared bool) *barrier) (stay, later []Point) {
	for i := 0; i < len(points); i++ {
		p, op := points[i], &g.ops[points[i].Op]
		t := &g.tenures[op.ID]
		switch {
		case p.rank == rankWindow && op.Kind == Acquire: // its end is the next
			w := g.window(t)
			if at := barrierOf(w.shared).firstFree(w.owner, p.At+1); at <= w.to {
				later = append(later, Point{at, p.Op, p.rank}, Point{at, points[i+1].Op, p.rank})
			} else {
				stay = append(stay, p, points[i+1])
			}
			i++
		case p.rank == rankLost && op.Return > p.At:
			at := p.At + 1
			if t.from < t.to && t.from <= at {
				at = max(at, t.to)
			}
			if at <= op.Return {
				later = append(later, Point{at, p.Op, p.rank})
				continue
			}
			fallthrough
		default:
			stay = append(stay, p)
		}
	}
	return stay, later
}

// entangled tells of points that no order of one instant has room for: of as few as show it.
func (g *grant) entangled(points []Point, ties []tie, moved map[int32]bool, through int) {
	var ids []int32
	for _, p := range points {
		if id := g.ops[p.Op].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		less := without(points, func(p Point) bool { return g.ops[p.Op].ID == id })
		if _, ok := g.arrange(less, ties, through); !ok {
			points = less
		}
	}
	for through > 0 {
		if _, ok := g.arrange(points, ties, through-1); ok {
			break
		}
		through--
	}
	what, partial := "", false
	var ops []int32
	ids = ids[:0]
	for _, p := range points {
		op := &g.ops[p.Op]
		if moved[p.Op] {
			g.result.Err = errTooMany // perhaps it had a place before
			return
		}
		if !slices.Contains(ids, op.ID) {
			ids = append(ids, op.ID)
		}
		switch {
		case p.rank == rankLost && op.Result == Released:
			what = "released twice"
		case p.rank == rankLost:
			what = lostWhileHeld
		case p.rank == rankWindow:
			w := g.window(&g.tenures[op.ID])
			partial = partial || w.from < w.to // what keeps it out of other instants is not here
		}
		for _, i := range []int32{p.Op, g.tenures[op.ID].acquire, g.tenures[op.ID].ends()} {
			if !slices.Contains(ops, i) {
				ops = append(ops, i)
			}
		}
	}
	ops = append(ops, g.heldThrough(points[0], through)...)
	switch {
	case len(ids) > 1 && g.permits > 1:
		what = whileFull
	case len(ids) > 1:
		what = whileHeld
	case what == "":
		what = "released before it was asked for"
	}
	g.violation(what, ops...).Partial = partial
}
