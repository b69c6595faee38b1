package checker

import (
	"errors"
	"math/bits"
	"slices"
)

// errTooMany is why an instant could not be put in order.
var errTooMany = errors.New("a client did several things to a lock in one instant, and too much happened in that to put it in order")

// knot is the points of one lock in one instant, and who must come before whom.
type knot struct {
	g       *grant
	points  []Point
	first   []uint64 // by point: those that come before it
	of      []party  // by point: its acquisition
	parties []party
	order   []Point
	dead    map[uint64]bool // what was done where that leads nowhere
	through int             // permits of a semaphore that others hold before and behind
}

// party is an acquisition with its points there, none if it has none.
type party struct {
	id, owner     int32
	shared        bool
	acquire, ends int
	frees         uint64 // behind any of these it does not hold
}

// arrange orders the points of one instant such that the ties hold and each is possible.
func (g *grant) arrange(points []Point, ties []tie, through int) (order []Point, ok bool) {
	k := knot{g: g, points: points, first: make([]uint64, len(points)), dead: map[uint64]bool{}, through: through}
	if !k.tie(ties) {
		return points, true
	}
	if len(points) > 64 {
		g.result.Err = errTooMany
		return points, false
	}
	k.meet()
	return k.order, k.from(0)
}

// tie reports whether the points are in another order than the ties.
func (k *knot) tie(ties []tie) (wrong bool) {
	if len(ties) == 0 {
		return false
	}
	places := make(map[int32]int, len(k.points))
	for i, p := range k.points {
		places[p.Op] = i
	}
	for _, t := range ties {
		i, is := places[t.before]
		j, are := places[t.after]
		if is && are {
			k.first[j%64] |= 1 << i
			wrong = wrong || i > j
		}
	}
	return wrong
}

// meet finds the acquisitions.
func (k *knot) meet() {
	for i, p := range k.points {
		op := &k.g.ops[p.Op]
		n := slices.IndexFunc(k.parties, func(q party) bool { return q.id == op.ID })
		if n < 0 {
			n = len(k.parties)
			k.parties = append(k.parties, party{id: op.ID, owner: op.owner(), acquire: -1, ends: -1})
		}
		q := &k.parties[n]
		switch t := &k.g.tenures[op.ID]; {
		case op.Kind == Acquire:
			q.acquire = i
		case t.ends() == p.Op && p.rank != rankLost:
			q.ends = i
			q.frees |= 1 << i
		case op.Result == Released:
			q.frees |= 1 << i
		}
		if a := k.g.tenures[op.ID].acquire; a != none {
			q.owner, q.shared = k.g.ops[a].owner(), k.g.ops[a].Shared
		}
	}
	for i, p := range k.points {
		n := slices.IndexFunc(k.parties, func(q party) bool { return q.id == k.g.ops[p.Op].ID })
		q := k.parties[n]
		k.of = append(k.of, q)
		if q.ends == i && q.acquire >= 0 {
			k.first[i] |= 1 << q.acquire
		}
	}
}

// holds reports whether an acquisition has the lock when that is done.
func (q *party) holds(done uint64) bool {
	if q.acquire < 0 && q.ends < 0 {
		return false
	}
	return (q.acquire < 0 || done&(1<<q.acquire) != 0) && done&q.frees == 0
}

// possible reports whether point i can come next.
func (k *knot) possible(i int, done uint64) bool {
	q := &k.of[i]
	switch {
	case done&(1<<i) != 0 || k.first[i]&^done != 0:
		return false
	case i == q.acquire:
		held := k.through
		for _, o := range k.parties {
			if o.id != q.id && o.holds(done) && o.owner != q.owner && !(o.shared && q.shared) {
				held++
			}
		}
		return held < max(1, k.g.permits)
	case k.g.ops[k.points[i].Op].Result == OK:
		return q.holds(done)
	case k.g.ops[k.points[i].Op].Result == Lost:
		return !q.holds(done)
	}
	return true
}

// from looks for an order of what is left. What takes no lock is best done at once: it is in
// nobody's way.
func (k *knot) from(done uint64) bool {
	n := len(k.order)
	for again := true; again; {
		again = false
		for i := range k.points {
			if i == k.of[i].acquire || !k.possible(i, done) {
				continue
			}
			if op := &k.g.ops[k.points[i].Op]; op.definite() || k.of[i].holds(done) { // else it did not happen
				k.order = append(k.order, k.points[i])
			}
			done |= 1 << i
			again = true
		}
	}
	if bits.OnesCount64(done) == len(k.points) {
		return true
	}
	if len(k.dead) > 1<<16 {
		k.g.result.Err = errTooMany
	}
	for i := range k.points {
		if k.dead[done] || k.g.result.Err != nil {
			break
		}
		if i != k.of[i].acquire || !k.possible(i, done) {
			continue
		}
		k.order = append(k.order, k.points[i])
		if k.from(done | 1<<i) {
			return true
		}
		k.order = k.order[:len(k.order)-1]
	}
	k.dead[done], k.order = true, k.order[:n]
	return false
}
