package checker

import (
	"cmp"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// barrier is the holds of one lock that keep a window out, ordered by their begin.
// Holds of the window's own owner don't.
type barrier struct {
	holds  []hold
	blocks []block
	// first gives for each prefix of the holds which last longest.
	first []longest
	solos map[int32][]solo // by owner, made when first needed
	// permits is how many may hold the lock at once; of more than one, full is for each prefix of the holds the one whose
	// end gives the first permit back, none while there is one left.
	permits int
	full    []int32
}

// block is a stretch of holds without a free instant inside; its ends do not lie
// inside. Owner is several if they have more than one.
type block struct {
	from, to   lb.Instant
	owner      int32
	begin, end int32 // the holds
}

const several = int32(0)

// solo is a stretch, ends included, in which nobody but one owner holds.
type solo struct{ from, to lb.Instant }

// build arranges the holds, when the first window asks for it: most locks have none.
func (b *barrier) build() {
	b.first = make([]longest, len(b.holds))
	var l longest
	for i, h := range b.holds {
		l.add(b.holds, int32(i))
		b.first[i] = l
		if n := len(b.blocks); n > 0 && h.from < b.blocks[n-1].to {
			last := &b.blocks[n-1]
			last.to, last.end = max(last.to, h.to), int32(i+1)
			if last.owner != h.owner {
				last.owner = several
			}
			continue
		}
		b.blocks = append(b.blocks, block{h.from, h.to, h.owner, int32(i), int32(i + 1)})
	}
}

// firstFree is the first instant from t on at which nobody but owner holds the lock.
func (b *barrier) firstFree(owner int32, t lb.Instant) lb.Instant {
	if b.permits > 1 {
		if i := b.fullUntil(t); i != none {
			return b.holds[i].to
		}
		return t
	}
	if b.first == nil {
		b.build()
	}
	i, _ := slices.BinarySearchFunc(b.blocks, t, func(bl block, t lb.Instant) int { return cmp.Compare(bl.from, t) })
	if i == 0 || b.blocks[i-1].to <= t { // the last block that begins before t
		return t
	}
	switch bl := b.blocks[i-1]; {
	case bl.owner == owner:
		return t
	case bl.owner == several && owner > 0:
		return min(b.soloFrom(owner, t), bl.to)
	default:
		return bl.to
	}
}

// longest is, of the holds around t that are not owner's, the one that lasts longest,
// or none.
func (b *barrier) longest(owner int32, t lb.Instant) int32 {
	n, _ := slices.BinarySearchFunc(b.holds, t, func(h hold, t lb.Instant) int { return cmp.Compare(h.from, t) })
	if n == 0 {
		return none
	}
	if i := b.first[n-1].of(owner); i != none && b.holds[i].to > t {
		return i
	}
	return none
}

// soloFrom is the first instant from t on at which owner, and nobody else, holds the
// lock, within the blocks of several owners; Forever if there is none.
func (b *barrier) soloFrom(owner int32, t lb.Instant) lb.Instant {
	if b.solos == nil {
		b.solos = map[int32][]solo{}
		for _, bl := range b.blocks {
			if bl.owner == several {
				b.findSolos(b.holds[bl.begin:bl.end])
			}
		}
	}
	all := b.solos[owner]
	i, _ := slices.BinarySearchFunc(all, t, func(s solo, t lb.Instant) int { return cmp.Compare(s.to, t) })
	if i == len(all) {
		return Forever
	}
	return max(t, all[i].from)
}

// findSolos sweeps over the holds of one block.
func (b *barrier) findSolos(holds []hold) {
	ends := slices.SortedFunc(slices.Values(holds), func(x, y hold) int { return cmp.Compare(x.to, y.to) })
	var times []lb.Instant
	for _, h := range holds {
		times = append(times, h.from, h.to)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	here := present{of: map[int32]int{}}
	for i, t := range times {
		for len(ends) > 0 && ends[0].to <= t {
			here.add(ends[0].owner, -1)
			ends = ends[1:]
		}
		b.solo(&here, t, t) // touching is no overlap
		for len(holds) > 0 && holds[0].from <= t {
			here.add(holds[0].owner, +1)
			holds = holds[1:]
		}
		if i+1 < len(times) {
			b.solo(&here, t, times[i+1])
		}
	}
}

func (b *barrier) solo(here *present, from, to lb.Instant) {
	if len(here.of) != 1 {
		return
	}
	owner := here.sum
	all := b.solos[owner]
	if n := len(all); n > 0 && all[n-1].to >= from {
		all[n-1].to = to
		return
	}
	b.solos[owner] = append(all, solo{from, to})
}

// present is who holds: how often, and the sum of them, which is the only one where
// there is one.
type present struct {
	of  map[int32]int
	sum int32
}

func (p *present) add(owner int32, by int) {
	before := p.of[owner]
	if before == 0 {
		p.sum += owner
	}
	if p.of[owner] = before + by; p.of[owner] == 0 {
		delete(p.of, owner)
		p.sum -= owner
	}
}
