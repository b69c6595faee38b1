package checker

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// finding tells of one stale write, and why it could happen.
func (s *store) finding(e *history.Access, eff *history.Effect, copies []string, overtakers []*history.Access) Finding {
	r, a := s.run, &s.run.Acqs[e.Acq]
	f := r.finding(a)
	f.At, f.From, f.To = e.At, min(a.Call, e.At), e.At
	did := fmt.Sprintf("wrote %d over %d", eff.New, eff.Value)
	if !e.Write {
		did = fmt.Sprintf("found %d", eff.Value)
	}
	f.Sentence = fmt.Sprintf("%s %s at %s (%s): it had read %d",
		r.who(a), did, r.sec(e.At), strings.Join(copies, ", "), eff.Base)
	if read := s.reads[e.Acq]; read != nil {
		f.Sentence += " at " + r.sec(read.At)
		f.From = min(f.From, read.At)
	}
	if a.Granted() {
		var intruder *history.Access
		f.Mechanism, intruder = s.mechanism(a, e.At, overtakers)
		f.Sentence += ", " + s.excuse(a, e.At)
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
	}
	for _, w := range overtakers {
		if id := r.ID(&r.Acqs[w.Acq]); len(f.IDs) < keep && !slices.Contains(f.IDs, id) {
			f.IDs = append(f.IDs, id)
		}
	}
	if n := len(overtakers); n > 0 && e.Write {
		f.Sentence += fmt.Sprintf("; it undid %s by others", count(n, "update"))
	}
	return f
}

// mechanism tells the ways to a stale write apart: either two clients were
// entitled to believe in the lock, or one of them wrote though it was not. That
// one need not be the writer of the stale value: a write under an ended lease also
// spoils the work of the holder that it breaks in on, who is then told about it.
func (s *store) mechanism(a *acquisition, at lb.Instant, overtakers []*history.Access) (how string, intruder *history.Access) {
	r := s.run
	belief := r.Belief(a)
	for _, w := range overtakers {
		y := &r.Acqs[w.Acq]
		if y.Client == a.Client {
			continue
		}
		for _, b := range r.Belief(y) {
			if slices.ContainsFunc(belief, b.Overlaps) {
				return lb.DoubleGrant, nil
			}
		}
		if !history.Within(r.Belief(y), w.At) {
			intruder = w
		}
	}
	if !history.Within(belief, at) {
		return s.trespass(a, at), nil
	}
	if intruder != nil {
		return s.trespass(&r.Acqs[intruder.Acq], intruder.At), intruder
	}
	return lb.DoubleGrant, nil
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
	belief := r.Belief(a)
	if history.Within(belief, t) {
		if end := belief[len(belief)-1].To; end < Forever {
			return "by all it knew it held the lock until " + r.sec(end)
		}
		return "by all it knew it held the lock"
	}
	if ended, over := r.overstays(a, t); over {
		return r.ending(a, ended)
	}
	switch released := r.Released(a); {
	case released < t:
		return "it had called release at " + r.sec(released)
	case r.Dead(a) < t:
		return "it had been killed at " + r.sec(r.Dead(a))
	}
	return "it had not been granted the lock"
}
