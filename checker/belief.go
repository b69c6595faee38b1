package checker

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

// believe computes from when to when the client may have relied on the grant.
// A renewal that was confirmed only after the lease had run out leaves a gap.
func (a *acquisition) believe() {
	if !a.granted() {
		return
	}
	now := span{a.ret, orForever(a.until)}
	for _, rn := range a.renews {
		to := orForever(rn.until)
		switch {
		case rn.at > now.to:
			a.validity = append(a.validity, now)
			now = span{rn.at, to}
		case now.to == Forever:
			now.to = to
		default:
			now.to = max(now.to, to)
		}
	}
	a.validity = clip(append(a.validity, now), a.lost)
	a.belief = clip(a.validity, min(a.released(), a.dead))
}

// leaseEnd is the instant at which the lock service may end the grant by itself,
// Forever if never. A renewal confirmed that the grant had not ended before, and
// nothing takes back what it gave.
func (a *acquisition) leaseEnd() lockbench.Instant {
	end := orForever(a.until)
	for _, rn := range a.renews {
		switch to := orForever(rn.until); {
		case rn.at > a.released():
		case end == Forever:
			end = to
		default:
			end = max(end, to)
		}
	}
	return end
}

func orForever(t lockbench.Instant) lockbench.Instant {
	if t == 0 {
		return Forever
	}
	return t
}

// clip cuts the spans off at stop and drops what is empty.
func clip(spans []span, stop lockbench.Instant) []span {
	if !slices.ContainsFunc(spans, func(s span) bool { return s.to > stop || s.from >= s.to }) {
		return spans // the usual case costs nothing
	}
	var out []span
	for _, s := range spans {
		if s.to = min(s.to, stop); s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// within reports whether t lies in one of the spans, ends included.
func within(spans []span, t lockbench.Instant) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.from <= t && t <= s.to })
}

// judgeBelief looks for clients that relied on one lock at the same time, each
// within its own validity. Overlaps that follow each other without a break are one
// period, and periods that have an acquisition in common are one finding: the first
// double grant brought the others about.
func judgeBelief(r *run) lockbench.Layer {
	var f findings
	granted, periods := 0, 0
	for _, acqs := range r.perLock((*acquisition).granted) {
		granted += len(acqs)
		all := clashes(acqs)
		periods += len(all)
		for _, c := range foldClashes(all) {
			f.add(func() lockbench.Finding { return r.clashFinding(c) })
		}
	}
	switch {
	case granted == 0:
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "nothing was granted"}
	case f.count == 0:
		return f.layer(lockbench.Valid, "%s, never two owners at once", count(granted, "grant"))
	}
	return f.layer(lockbench.Invalid, "%s, %s with two owners at once", count(granted, "grant"), count(periods, "period"))
}

// foldClashes leaves of each chain of periods, one sharing an acquisition with the
// next, the first.
func foldClashes(all []clash) []clash {
	var heads []clash
	chain := map[*acquisition]int{} // index of the head
	for _, c := range all {
		head := len(heads)
		for _, a := range c.acqs {
			if h, ok := chain[a]; ok {
				head = min(head, h)
			}
		}
		for _, a := range c.acqs {
			chain[a] = head
		}
		if head == len(heads) {
			heads = append(heads, c)
		} else {
			heads[head].followers++
		}
	}
	return heads
}

// clash is a period in which at least two owners believed in conflicting grants.
type clash struct {
	span
	acqs      []*acquisition // involved, in the order in which they began to believe
	overlaps  int
	followers int // later periods of the chain
}

// edge is where a belief begins or ends.
type edge struct {
	at    lockbench.Instant
	begin bool
	acq   *acquisition
}

// clashes sweeps over the beliefs in one lock.
func clashes(acqs []*acquisition) []clash {
	var edges []edge
	for _, a := range acqs {
		for _, s := range a.belief {
			if edges = append(edges, edge{s.from, true, a}); s.to < Forever {
				edges = append(edges, edge{s.to, false, a})
			}
		}
	}
	// Ends come before beginnings: touching is no overlap.
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b2i(a.begin), b2i(b.begin)))
	})
	var out []clash
	open := false
	now := believers{all: map[string]int{}, excl: map[string]int{}}
	for _, e := range edges {
		now.apply(e)
		switch conflict := now.conflict(); {
		case conflict && !open:
			out = append(out, clash{span: span{e.at, Forever}, acqs: slices.Clone(now.active), overlaps: 1})
		case conflict && e.begin:
			last := &out[len(out)-1]
			last.acqs = append(last.acqs, e.acq)
			last.overlaps++
		case !conflict && open:
			out[len(out)-1].to = e.at
		}
		open = now.conflict()
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// believers are those who believe at one instant, and how many grants each owner
// has: all of them, and the exclusive ones.
type believers struct {
	active    []*acquisition
	all, excl map[string]int
}

func (b *believers) apply(e edge) {
	if e.begin {
		b.active = append(b.active, e.acq)
		tally(b.all, e.acq.owner(), +1)
		if !e.acq.shared {
			tally(b.excl, e.acq.owner(), +1)
		}
		return
	}
	i := slices.Index(b.active, e.acq)
	b.active = slices.Delete(b.active, i, i+1)
	tally(b.all, e.acq.owner(), -1)
	if !e.acq.shared {
		tally(b.excl, e.acq.owner(), -1)
	}
}

// tally counts and forgets who has nothing left.
func tally(m map[string]int, owner string, by int) {
	if m[owner] += by; m[owner] == 0 {
		delete(m, owner)
	}
}

// conflict reports whether two different owners believe, not both of them in a
// shared grant.
func (b *believers) conflict() bool { return len(b.all) > 1 && len(b.excl) > 0 }

func (r *run) clashFinding(c clash) lockbench.Finding {
	first, second := pair(c.acqs)
	f := lockbench.Finding{Mechanism: lockbench.DoubleGrant, At: c.from,
		From: min(first.call, second.call), To: min(c.to, r.last), Confirmed: r.clashConfirmed(c, first, second)}
	for i, a := range c.acqs {
		if i < keep {
			f.IDs = append(f.IDs, a.id)
		}
	}
	f.Sentence = first.who() + " and " + second.who() + " both relied on " + r.theLock(first.lock) +
		" from " + r.sec(c.from) + " to " + r.sec(c.to) + ": " + r.tell(first) + "; " + r.tell(second)
	if c.overlaps > 1 {
		f.Sentence += "; " + count(c.overlaps-1, "further overlap") + " followed without a break"
	}
	if c.followers > 0 {
		f.Sentence += "; " + count(c.followers, "further period") + " with two owners followed from it"
	}
	return f
}

// pair is the first conflicting pair of a clash.
func pair(acqs []*acquisition) (first, second *acquisition) {
	for j, b := range acqs {
		for _, a := range acqs[:j] {
			if a.owner() != b.owner() && !(a.shared && b.shared) {
				return a, b
			}
		}
	}
	return acqs[0], acqs[len(acqs)-1]
}

// clashConfirmed lets porcupine judge the two beliefs as if they were holds.
func (r *run) clashConfirmed(c clash, pair ...*acquisition) bool {
	var ops []Op
	for i, a := range pair {
		for _, s := range a.belief {
			if s.from <= c.from && c.from < s.to {
				ops = append(ops,
					Op{Call: a.call, Return: s.from, ID: int32(i), Kind: Acquire, Shared: a.shared},
					Op{Call: s.to, Return: Forever, ID: int32(i), Kind: Expire, Result: Unknown})
			}
		}
	}
	return confirmed(ops, []int32{0, 1, 2, 3}[:len(ops)])
}
