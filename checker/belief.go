package checker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

// judgeBelief looks for clients that relied on one lock at the same time, more than may, each
// within its own validity. Overlaps that follow each other without a break are one
// period, and periods between which somebody relied on the lock all the time are one
// finding: the first double grant brought the others about.
func judgeBelief(r *run) Layer {
	var f findings
	granted, periods := 0, 0
	for lock, acqs := range r.ByLock() {
		for _, i := range acqs {
			if r.Acqs[i].Granted() {
				granted++
			}
		}
		c := r.clashes(lock)
		periods += c.periods
		for _, c := range c.heads {
			f.add(func() Finding { return r.clashFinding(c) })
		}
	}
	switch {
	case granted == 0:
		return Layer{Verdict: Vacuous, Summary: "nothing was granted"}
	case f.count == 0:
		return f.layer(Valid, "%s, never %s at once that exclude each other", english.Count(granted, "grant"), r.tooMany())
	}
	return f.layer(Invalid, "%s, %s with %s owners at once", english.Count(granted, "grant"), english.Count(periods, "period"), r.tooMany())
}

// tooMany is how many may not hold a lock at once.
func (r *run) tooMany() string {
	if r.plan.Traits.Semaphore() {
		return strconv.Itoa(r.plan.Traits.AtOnce() + 1)
	}
	return "two"
}

// clash is a period in which too many owners believed in conflicting grants, and
// those that came after it, as long as somebody has believed ever since.
type clash struct {
	span
	acqs      []*acquisition // those with which it began, two of a lock of one, and the first that came later
	overlaps  int
	followers int
}

// clashSweep walks over the beliefs in one lock.
type clashSweep struct {
	r         *run
	hs        []held
	all, excl believers
	heads     []clash
	periods   int
	open      bool // too many owners believe
	chain     bool // somebody has believed ever since the last head
}

func (r *run) clashes(lock int) *clashSweep {
	hs := r.beliefs[lock]
	s := &clashSweep{r: r, hs: hs, all: newBelievers(len(r.Clients), len(hs)), excl: newBelievers(len(r.Clients), len(hs))}
	ends := make([]int32, len(hs))
	for i := range ends {
		ends[i] = int32(i)
	}
	slices.SortFunc(ends, func(a, b int32) int { return cmp.Or(cmp.Compare(hs[a].To, hs[b].To), cmp.Compare(a, b)) })
	for i := range hs {
		// Ends come before beginnings: touching is no overlap.
		for len(ends) > 0 && hs[ends[0]].To <= hs[i].From {
			s.end(ends[0])
			ends = ends[1:]
		}
		s.begin(int32(i))
	}
	for _, i := range ends {
		s.end(i)
	}
	return s
}

func (s *clashSweep) acq(i int32) *acquisition { return &s.r.Acqs[s.hs[i].acq] }

// conflict reports whether more owners believe than may, not all of them in a shared grant.
func (s *clashSweep) conflict() bool {
	return s.all.owners > s.r.plan.Traits.AtOnce() && s.excl.owners > 0
}

func (s *clashSweep) begin(i int32) {
	a := s.acq(i)
	s.all.add(a.Client, i)
	if !a.Shared {
		s.excl.add(a.Client, i)
	}
	if !s.conflict() {
		return
	}
	last := len(s.heads) - 1
	switch {
	case s.open && s.heads[last].followers == 0:
		c := &s.heads[last]
		if c.overlaps++; len(c.acqs) < keep {
			c.acqs = append(c.acqs, a)
		}
	case s.open:
	case s.chain:
		s.heads[last].followers++
		s.periods++
	default:
		against := &s.all
		if a.Shared {
			against = &s.excl
		}
		var acqs []*acquisition
		for _, b := range against.others(a.Client, s.r.plan.Traits.AtOnce()) {
			acqs = append(acqs, s.acq(b))
		}
		s.heads = append(s.heads, clash{span: span{From: s.hs[i].From, To: Forever}, acqs: append(acqs, a), overlaps: 1})
		s.periods++
	}
	s.open, s.chain = true, true
}

func (s *clashSweep) end(i int32) {
	a := s.acq(i)
	s.all.remove(a.Client, i)
	if !a.Shared {
		s.excl.remove(a.Client, i)
	}
	if s.open && !s.conflict() {
		s.open = false
		if c := &s.heads[len(s.heads)-1]; c.followers == 0 {
			c.To = s.hs[i].To
		}
	}
	s.chain = s.chain && s.all.owners > 0
}

func (r *run) clashFinding(c clash) Finding {
	first := c.acqs[0]
	f := r.finding(first, c.acqs[1:]...)
	f.Mechanism, f.At, f.From, f.To = lb.DoubleGrant, c.From, first.Call, min(c.To, r.Last)
	f.Confirmed = r.clashConfirmed(c)
	var who, told []string
	for _, a := range r.began(c) {
		f.From = min(f.From, a.Call)
		who, told = append(who, r.who(a)), append(told, r.tell(a))
	}
	how := " both relied on "
	if len(who) > 2 {
		how = " all relied on "
	}
	f.Sentence = list(who) + how + r.theLock(first) + " from " + r.sec(c.From) + " to " + r.sec(r.all(c)) + ": " + strings.Join(told, "; ")
	if c.overlaps > 1 {
		f.Sentence += "; " + english.Count(c.overlaps-1, "further overlap") + " followed without a break"
	}
	if c.followers > 0 {
		f.Sentence += "; " + english.Count(c.followers, "further period") + " with " + r.tooMany() + " owners came after it"
	}
	return f
}

// began are those with whom a clash began.
func (r *run) began(c clash) []*acquisition { return c.acqs[:1+r.plan.Traits.AtOnce()] }

// all is until when those with whom a clash began all relied on the lock; others may go on with it.
func (r *run) all(c clash) lb.Instant {
	to := c.To
	for _, a := range r.began(c) {
		for _, s := range r.Belief(a) {
			if s.Has(c.From) {
				to = min(to, s.To)
			}
		}
	}
	return to
}

// clashConfirmed lets porcupine judge the beliefs with which it began as if they were holds.
func (r *run) clashConfirmed(c clash) bool {
	var ops []Op
	for i, a := range r.began(c) {
		for _, s := range r.Belief(a) {
			if s.From <= c.From && c.From < s.To {
				ops = append(ops,
					Op{Call: a.Call, Return: s.From, ID: int32(i), Kind: Acquire, Shared: a.Shared},
					Op{Call: s.To, Return: Forever, ID: int32(i), Kind: Expire, Result: Unknown})
			}
		}
	}
	return Linearizable(ops, r.plan.Traits.AtOnce(), confirmTime) == porcupine.Illegal
}
