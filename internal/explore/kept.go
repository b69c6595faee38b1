package explore

import (
	"crypto/sha256"
	"slices"
)

// key stands for all that follows a moment of an order, and for all that will be said of what came before it:
// where two orders come to moments with the same key, what can follow the one can follow the other, with the
// same moves, and the whole is judged alike.
type key [sha256.Size]byte

// keyed is an order whose moments have keys.
type keyed interface {
	Key() key
}

// kept are the moments that were walked on from, each with the moves that slept there each time (Godefroid,
// 1996): of one that comes again, those are left to be tried that slept before and don't now. A moment is kept
// when all that follows it lies behind, and not where an order went astray below.
type kept map[key][]Move

// meet leaves out at n what was walked on from its moment before, and reports whether anything is left.
func (k kept) meet(n *node) bool {
	slept, known := k[n.key]
	if !known {
		return true
	}
	n.walked = slices.DeleteFunc(slices.Clone(n.enabled), func(m Move) bool { return slices.Contains(slept, m) })
	n.asleep = slices.DeleteFunc(n.asleep, func(m Move) bool { return !slices.Contains(slept, m) })
	n.slept = slices.Clone(n.asleep)
	return n.choose()
}

// keep notes that all that follows n lies behind.
func (k kept) keep(n *node) {
	if k != nil && !n.spoilt {
		k[n.key] = n.slept
	}
}
