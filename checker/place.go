package checker

import (
	"cmp"
	"slices"
)

// place chooses an instant for each window of one lock, whose holds are
// disjoint, and appends the lock's points to the witness.
func (g *grant) place(lock int32, holds []hold, windows []window) {
	all := &barrier{holds: holds, permits: g.permits}
	alone := all
	if slices.ContainsFunc(holds, func(h hold) bool { return h.shared }) {
		alone = &barrier{holds: slices.DeleteFunc(slices.Clone(holds), func(h hold) bool { return h.shared })}
	}
	var extra []Point
	for _, w := range windows {
		if w.end == none {
			extra = append(extra, Point{w.from, w.op, rankLost})
			continue
		}
		b := all
		if w.shared {
			b = alone
		}
		at := b.firstFree(w.owner, w.from)
		if at > w.to {
			g.blocked(b, w)
			continue
		}
		extra = append(extra, Point{at, w.op, rankWindow}, Point{at, w.end, rankWindow})
	}
	if g.wrong[lock] || g.result.Count > 0 && len(g.ties) == 0 {
		return
	}
	begin := len(g.result.Witness)
	g.write(holds, extra)
	if points := g.result.Witness[begin:]; len(g.ties) > 0 {
		g.result.Witness = append(g.result.Witness[:begin], g.untie(slices.Clone(points), func(shared bool) *barrier {
			if shared {
				return alone
			}
			return all
		})...)
	}
}

// maxBlockers bounds the holds that are listed for one window.
const maxBlockers = maxModel - 1

// blocked tells of a window without a free instant: of its operations, and of the
// fewest holds that leave none. That is one hold, unless they are shared.
func (g *grant) blocked(b *barrier, w window) {
	if b.permits > 1 {
		g.crowdedOut(b, w)
		return
	}
	ops, partial := []int32{w.op, w.end}, false
	for at := w.from; at <= w.to; {
		i := b.longest(w.owner, at)
		if i == none || len(ops) > 2*maxBlockers {
			partial = true // or there is a free instant after all: let the confirmation say so
			break
		}
		t := &g.tenures[b.holds[i].id]
		ops = append(ops, t.acquire, t.ends())
		if at = b.holds[i].to; g.enough() {
			break // it is only counted, and belongs to what the first hold belongs to
		}
	}
	g.violation("by its own answers granted for a moment while it was held", ops...).Partial = partial
}

// write merges the points of the holds with the extra ones.
func (g *grant) write(holds []hold, extra []Point) {
	order := func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.rank, b.rank),
			cmp.Compare(g.ops[a.Op].ID, g.ops[b.Op].ID), cmp.Compare(g.ops[a.Op].Kind, g.ops[b.Op].Kind))
	}
	begin := len(g.result.Witness)
	slices.SortFunc(extra, order)
	k := 0
	for _, h := range holds {
		t := &g.tenures[h.id]
		take, free := Point{h.from, t.acquire, rankTake}, Point{h.to, t.ends(), rankFree}
		for ; k < len(extra) && order(extra[k], take) < 0; k++ {
			g.result.Witness = append(g.result.Witness, extra[k])
		}
		g.result.Witness = append(g.result.Witness, take)
		if free.Op != none {
			for ; k < len(extra) && order(extra[k], free) < 0; k++ {
				g.result.Witness = append(g.result.Witness, extra[k])
			}
			g.result.Witness = append(g.result.Witness, free)
		}
	}
	g.result.Witness = append(g.result.Witness, extra[k:]...)
	// Only shared holds can end in another order than they begin.
	if points := g.result.Witness[begin:]; !slices.IsSortedFunc(points, order) {
		slices.SortFunc(points, order)
	}
}
