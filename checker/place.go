package checker

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

// place chooses an instant for each window of one lock, whose holds are
// disjoint, and appends the lock's points to the witness.
func (g *grant) place(holds []hold, windows []window) {
	taken, exclusive := holds, holds
	if slices.ContainsFunc(holds, func(h hold) bool { return h.shared }) {
		taken = merge(holds)
		exclusive = slices.DeleteFunc(slices.Clone(holds), func(h hold) bool { return h.shared })
	}
	var extra []Point
	for _, w := range windows {
		if w.end == none {
			extra = append(extra, Point{w.from, w.op, rankLost})
			continue
		}
		blocks := taken
		if w.shared {
			blocks = exclusive
		}
		at := firstFree(blocks, w.from)
		if at > w.to {
			g.violation("passed through the lock while it was held", g.blockers(holds, w)...)
			continue
		}
		extra = append(extra, Point{at, w.op, rankWindow}, Point{at, w.end, rankWindow})
	}
	if g.result.Count == 0 {
		g.write(holds, extra)
	}
}

// firstFree is the first instant from t on that lies inside none of the blocks,
// which are disjoint and sorted. Their ends do not lie inside them.
func firstFree(blocks []hold, t lockbench.Instant) lockbench.Instant {
	i, _ := slices.BinarySearchFunc(blocks, t, func(h hold, t lockbench.Instant) int { return cmp.Compare(h.from, t) })
	if i > 0 && blocks[i-1].to > t { // the last block that begins before t
		return blocks[i-1].to
	}
	return t
}

// merge unites overlapping holds into blocks without a free instant inside.
func merge(holds []hold) []hold {
	var blocks []hold
	for _, h := range holds {
		if n := len(blocks); n > 0 && h.from < blocks[n-1].to {
			blocks[n-1].to = max(blocks[n-1].to, h.to)
			continue
		}
		blocks = append(blocks, h)
	}
	return blocks
}

// blockers are the operations of the window, and of the fewest holds that leave
// no instant of it free: one hold, unless they are shared.
func (g *grant) blockers(holds []hold, w window) []int32 {
	ops := []int32{w.op, w.end}
	for at := w.from; at <= w.to; {
		best := none
		for i, h := range holds {
			if h.from < at && at < h.to && !(w.shared && h.shared) && (best == none || h.to > holds[best].to) {
				best = int32(i)
			}
		}
		if best == none { // there is a free instant after all: let the confirmation say so
			break
		}
		t := &g.tenures[holds[best].id]
		ops = append(ops, t.acquire, t.ends())
		at = holds[best].to
	}
	return ops
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
