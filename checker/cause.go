package checker

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// finding tells of one stale write, and why it could happen.
func (s *store) finding(e *history.Access, worst int, copies []string, overtakers []*history.Access) Finding {
	r, a, eff := s.run, &s.run.Acqs[e.Acq], effectOn(e, worst)
	f := r.finding(a)
	f.At, f.From, f.To = e.At, min(a.Call, e.At), e.At
	did := fmt.Sprintf("wrote %d over %d", eff.New, eff.Value)
	if !e.Write {
		did = fmt.Sprintf("found %d", eff.Value)
	}
	f.Sentence = fmt.Sprintf("%s %s at %s (%s): ", r.who(a), did, r.sec(e.At), strings.Join(copies, ", "))
	if read := s.reads[e.Acq]; read != nil && effectOn(read, worst) != nil && effectOn(read, worst).Value == eff.Base {
		f.Sentence += fmt.Sprintf("it had read %d at %s", eff.Base, r.sec(read.At))
		f.From = min(f.From, read.At)
	} else {
		f.Sentence += fmt.Sprintf("it took it for %d", eff.Base)
	}
	if a.Granted() {
		var intruder *history.Access
		f.Mechanism, intruder = s.mechanism(a, e, overtakers)
		f.Sentence += ", " + s.excuse(a, e.At)
		if gap, ok := s.lapse(a, e); ok {
			f.Sentence += ", though its lease had ended at " + r.sec(gap.From) + " and began again at " + r.sec(gap.To)
		}
		if q, ok := r.frozen(a.Client, span{From: a.Call, To: e.At}); ok {
			f.Sentence += ", " + r.silence(a.Client, q)
		}
		if intruder != nil {
			y := &r.Acqs[intruder.Acq]
			f.Sentence += fmt.Sprintf("; in between %s had written at %s though %s", r.who(y), r.sec(intruder.At), s.excuse(y, intruder.At))
			f.starved = r.starved(y, intruder.At)
		}
		if f.starved == "" {
			f.starved = r.starved(a, e.At)
		}
		for _, w := range overtakers { // who broke in is not certain then
			if y := &r.Acqs[w.Acq]; f.starved == "" && r.Error > 0 && y.Client != a.Client && !r.inside(y, w.At) {
				f.starved = r.starved(y, w.At)
			}
		}
	}
	for _, w := range overtakers {
		if id := r.ID(&r.Acqs[w.Acq]); len(f.IDs) < keep && !slices.Contains(f.IDs, id) {
			f.IDs = append(f.IDs, id)
		}
	}
	others := slices.DeleteFunc(slices.Clone(overtakers), func(w *history.Access) bool { return w.Client == e.Client })
	if n := len(others); n > 0 && e.Write && s.reads[e.Acq] != nil {
		f.Sentence += fmt.Sprintf("; it undid %s by others", english.Count(n, "update"))
	}
	return f
}

// mechanism tells the ways to a stale write apart, "" where none of them is certain: two clients were
// entitled to believe in the lock, or one wrote though it was not, or went on with what it had read
// under a lease that had ended in between. That one need not be the writer of the stale value: a write
// under an ended lease also spoils the work of the holder that it breaks in on, who is then told about it.
func (s *store) mechanism(a *acquisition, e *history.Access, overtakers []*history.Access) (how string, intruder *history.Access) {
	r := s.run
	belief := r.Belief(a)
	for _, w := range overtakers {
		y := &r.Acqs[w.Acq]
		if y.Client == a.Client {
			continue
		}
		for _, b := range r.Belief(y) {
			if both := a.Shared && y.Shared; !both && slices.ContainsFunc(belief, b.Overlaps) {
				return lb.DoubleGrant, nil
			}
		}
		if r.outside(y, w.At) {
			intruder = w
		}
	}
	if r.outside(a, e.At) {
		return s.trespass(a, e.At), nil
	}
	if intruder != nil {
		return s.trespass(&r.Acqs[intruder.Acq], intruder.At), intruder
	}
	if _, ok := s.lapse(a, e); ok {
		return lb.Overstay, nil
	}
	return "", nil
}

// outside reports whether a client certainly did not rely on its grant at t.
func (r *run) outside(a *acquisition, t lb.Instant) bool {
	return !slices.ContainsFunc(r.Belief(a), func(b span) bool {
		return b.From-4*r.Error <= t && t <= min(b.To, Forever-2*r.Error)+2*r.Error
	})
}

// inside reports whether a client certainly relied on its grant at t.
func (r *run) inside(a *acquisition, t lb.Instant) bool {
	return slices.ContainsFunc(r.Belief(a), func(b span) bool { return b.From <= t && t+2*r.Error <= b.To })
}

// lapse is when the lease had ended and began again by a renewal, between the client's read and what
// it did by it.
func (s *store) lapse(a *acquisition, e *history.Access) (gap span, ok bool) {
	belief, read := s.run.Belief(a), s.reads[e.Acq]
	for i := 1; i < len(belief) && read != nil && s.run.Error == 0; i++ {
		if gap = (span{From: belief[i-1].To, To: belief[i].From}); read.At <= gap.From && gap.To <= e.At {
			return gap, true
		}
	}
	return span{}, false
}

// trespass is how a client came to write at t without its lock; "" if it is neither:
// it had not been granted the lock, or the write was under way when it was killed.
func (s *store) trespass(a *acquisition, t lb.Instant) string {
	if _, over := s.run.overstays(a, t); over {
		return lb.Overstay
	}
	if a.Granted() && t > s.run.Released(a) {
		return lb.EarlyRelease
	}
	return ""
}

// excuse says what the writer knew about its lock when it wrote at t.
func (s *store) excuse(a *acquisition, t lb.Instant) string {
	r := s.run
	for _, b := range r.Belief(a) {
		switch {
		case !b.Has(t):
		case b.To < Forever:
			return "by all it knew it held the lock until " + r.sec(b.To)
		default:
			return "by all it knew it held the lock"
		}
	}
	if ended, over := r.overstays(a, t); over {
		return r.ending(a, ended)
	}
	switch released := r.Released(a); {
	case released < t:
		return "it had called release at " + r.sec(released)
	case r.Dead(a) < t:
		return "it had been killed at " + r.sec(r.Dead(a))
	case r.Error > 0 && !r.outside(a, t):
		return "whether it held the lock by all it knew the clocks leave open"
	}
	return "it had not been granted the lock"
}
