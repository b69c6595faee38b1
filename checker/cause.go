package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// finding tells of one stale write, and why it could happen.
func (s *store) finding(e *lockbench.Event, copies []string, overtakers []*lockbench.Event) lockbench.Finding {
	r, a := s.run, s.run.acqOf(e)
	eff := effectOn(e, copies[0])
	f := lockbench.Finding{At: e.At, From: e.At, To: e.At}
	name := e.Client
	if a != nil {
		name = a.who()
		f.From, f.IDs = a.call, []string{a.id}
	}
	f.Sentence = fmt.Sprintf("%s wrote %d over %d at %s (%s): it had read %d",
		name, eff.New, eff.Value, r.sec(e.At), strings.Join(copies, ", "), eff.Base)
	if read := s.reads[acqKey{e.Lock, e.ID}]; read != nil {
		f.Sentence += " at " + r.sec(read.At)
		f.From = min(f.From, read.At)
	}
	if a != nil && a.granted() {
		var intruder *lockbench.Event
		f.Mechanism, intruder = s.mechanism(a, e.At, overtakers)
		f.Sentence += ", " + s.excuse(a, e.At)
		if q, ok := r.frozen(a.client, span{a.call, e.At}); ok {
			f.Sentence += fmt.Sprintf(", it was frozen from %s to %s", r.sec(q.from), r.sec(q.to))
		}
		if intruder != nil {
			y := r.acqOf(intruder)
			f.Sentence += fmt.Sprintf("; in between %s had written at %s though %s", y.who(), r.sec(intruder.At), s.excuse(y, intruder.At))
		}
	}
	for _, y := range s.owners(overtakers) {
		if len(f.IDs) < keep && !slices.Contains(f.IDs, y.id) {
			f.IDs = append(f.IDs, y.id)
		}
	}
	if n := len(overtakers); n > 0 {
		f.Sentence += fmt.Sprintf("; it undid %s by others", count(n, "update"))
	}
	return f
}

// mechanism tells the two ways to a stale write apart: either two clients were
// entitled to believe in the lock, or one of them wrote though it was not. That
// one need not be the writer of the stale value: a write under an ended lease also
// spoils the work of the holder that it breaks in on, who is then told about it.
func (s *store) mechanism(a *acquisition, at lockbench.Instant, overtakers []*lockbench.Event) (how string, intruder *lockbench.Event) {
	for _, w := range overtakers {
		y := s.run.acqOf(w)
		if y == nil || y.owner() == a.owner() {
			continue
		}
		for _, b := range y.belief {
			if slices.ContainsFunc(a.belief, b.overlaps) {
				return lockbench.DoubleGrant, nil
			}
		}
		if !within(y.belief, w.At) {
			intruder = w
		}
	}
	if !within(a.belief, at) {
		return lockbench.Overstay, nil
	}
	if intruder != nil {
		return lockbench.Overstay, intruder
	}
	return lockbench.DoubleGrant, nil
}

// excuse says what the writer knew about its lock when it wrote at t.
func (s *store) excuse(a *acquisition, t lockbench.Instant) string {
	r := s.run
	if within(a.belief, t) {
		if end := a.belief[len(a.belief)-1].to; end < Forever {
			return "by all it knew it held the lock until " + r.sec(end)
		}
		return "by all it knew it held the lock"
	}
	if ended, over := a.overstays(t); over {
		return r.ending(a, ended)
	}
	return "it had called release at " + r.sec(a.released())
}

// owners lists the acquisitions that made the writes.
func (s *store) owners(writes []*lockbench.Event) []*acquisition {
	var out []*acquisition
	for _, w := range writes {
		if a := s.run.acqOf(w); a != nil {
			out = append(out, a)
		}
	}
	return out
}
