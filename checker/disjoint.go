package checker

// disjoint reports whether no two holds of one lock conflict. Comparing each
// hold with the longest-lasting one before it that conflicts is enough.
func (g *grant) disjoint(holds []hold) bool {
	if g.permits > 1 {
		return g.within(holds)
	}
	ok := true
	told := none
	var all, alone longest
	for i, h := range holds {
		before := all.of(h.owner)
		if h.shared {
			before = alone.of(h.owner)
		}
		if before != none && h.from < holds[before].to {
			ok = false
			g.link(holds[before].id, h.id)
			if before != told { // one hold that is ignored is one violation, however often
				a, b := &g.tenures[holds[before].id], &g.tenures[h.id]
				g.violation(whileHeld, a.acquire, a.ends(), b.acquire, b.ends())
				told = before
			}
		}
		all.add(holds, int32(i))
		if !h.shared {
			alone.add(holds, int32(i))
		}
	}
	return ok
}

// longest is, of some holds, the one that lasts longest, and of those of other
// owners the one that does. The zero value has none.
type longest struct{ first, next longer }

// longer is a hold, by its index plus one, and its owner.
type longer struct{ hold, owner int32 }

// of is the one that lasts longest of those that are not owner's, or none.
func (l *longest) of(owner int32) int32 {
	if l.first.owner == owner {
		return l.next.hold - 1
	}
	return l.first.hold - 1
}

func (l *longest) add(holds []hold, i int32) {
	h, longer := &holds[i], longer{i + 1, holds[i].owner}
	outlasts := func(o int32) bool { return o == 0 || h.to > holds[o-1].to }
	switch {
	case outlasts(l.first.hold):
		if l.first.owner != h.owner {
			l.next = l.first
		}
		l.first = longer
	case h.owner != l.first.owner && outlasts(l.next.hold):
		l.next = longer
	}
}
