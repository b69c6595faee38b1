package checker

import (
	"cmp"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// A semaphore is a lock of which several may hold a permit at once, each of its own. It is exact for the
// reason for which a lock of one is: holds are as short as they may be, and what needs a single instant needs one at which a
// permit is left. Where never more are held than there are, the end of any hold is such an instant.

// whileFull is [whileHeld] of a semaphore.
const whileFull = "granted while all of its permits were held"

// longestFew are, of some holds, the few that last longest, the longest first.
type longestFew struct {
	few   int
	holds []int32
}

func (l *longestFew) add(holds []hold, i int32) {
	at := len(l.holds)
	for at > 0 && holds[l.holds[at-1]].to < holds[i].to {
		at--
	}
	if at < l.few {
		l.holds = slices.Insert(l.holds[:min(len(l.holds), l.few-1)], at, i)
	}
}

// last is the one of them that ends first, none if they are fewer.
func (l *longestFew) last() int32 {
	if len(l.holds) < l.few {
		return none
	}
	return l.holds[l.few-1]
}

// within reports whether there are never more holds of one semaphore than it has permits. Comparing each hold with
// those that last longest before it is enough.
func (g *grant) within(holds []hold) bool {
	ok, told := true, none
	before := longestFew{few: g.permits}
	for i, h := range holds {
		if last := before.last(); last != none && h.from < holds[last].to {
			ok = false
			ops := g.opsOf(nil, h.id)
			for _, k := range before.holds {
				g.link(holds[k].id, h.id)
				ops = g.opsOf(ops, holds[k].id)
			}
			if last != told { // one hold that is ignored is one violation, however often
				g.violation(whileFull, ops...)
				told = last
			}
		}
		before.add(holds, int32(i))
	}
	return ok
}

// opsOf appends the operations by which an acquisition holds.
func (g *grant) opsOf(ops []int32, id int32) []int32 {
	t := &g.tenures[id]
	return append(ops, t.acquire, t.ends())
}

// fullUntil is, where all permits are held around t, the hold whose end gives the first back; else none.
func (b *barrier) fullUntil(t lb.Instant) int32 {
	if b.full == nil {
		few := longestFew{few: b.permits}
		b.full = make([]int32, len(b.holds))
		for i := range b.holds {
			few.add(b.holds, int32(i))
			b.full[i] = few.last()
		}
	}
	n, _ := slices.BinarySearchFunc(b.holds, t, func(h hold, t lb.Instant) int { return cmp.Compare(h.from, t) })
	if n == 0 {
		return none
	}
	if i := b.full[n-1]; i != none && b.holds[i].to > t {
		return i
	}
	return none
}

// crowdedOut tells of a window all through which all permits are held: of its operations and those of the holds.
func (g *grant) crowdedOut(b *barrier, w window) {
	first := b.fullUntil(w.from)
	ops := g.opsOf([]int32{w.op, w.end}, b.holds[first].id)
	for i := range b.holds {
		h := &b.holds[i]
		if h.from >= w.from || g.enough() { // it is only counted, and belongs to what the first hold belongs to
			break
		}
		if h.to > w.from && int32(i) != first {
			ops = g.opsOf(ops, h.id)
		}
	}
	g.violation("by its own answers granted for a moment while all of its permits were held", ops...)
}

// number is how many points of a semaphore have the rank.
func (g *grant) number(points []Point, rank uint8) (n int) {
	for _, p := range points {
		if g.permits > 1 && p.rank == rank {
			n++
		}
	}
	return n
}

// heldThrough are the operations of so many holds of a semaphore that lie around a point.
func (g *grant) heldThrough(p Point, many int) (ops []int32) {
	lock := g.ops[p.Op].Lock
	for id := 0; id < len(g.tenures) && many > 0; id++ {
		if t := &g.tenures[id]; t.from < p.At && p.At < t.to && g.ops[t.acquire].Lock == lock {
			ops = g.opsOf(ops, int32(id))
			many--
		}
	}
	return ops
}
