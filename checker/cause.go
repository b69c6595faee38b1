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
		f.Mechanism = mechanism(a, e.At, s.owners(overtakers))
		f.Sentence += ", " + s.excuse(a, e.At)
		if q, ok := r.frozen(a.client, span{a.call, e.At}); ok {
			f.Sentence += fmt.Sprintf(", it was frozen from %s to %s", r.sec(q.from), r.sec(q.to))
		}
	}
	for _, y := range s.owners(overtakers) {
		if len(f.IDs) < keep && !slices.Contains(f.IDs, y.id) {
			f.IDs = append(f.IDs, y.id)
		}
	}
	if n := len(overtakers); n > 0 {
		f.Sentence += fmt.Sprintf("; %s by others %s lost", count(n, "update"), wasWere(n))
	}
	return f
}

// mechanism tells the two ways to a stale write apart: the writer was still
// entitled to believe in its lock while another had it, or it was not.
func mechanism(a *acquisition, at lockbench.Instant, others []*acquisition) string {
	if within(a.belief, at) {
		return lockbench.DoubleGrant
	}
	for _, y := range others {
		for _, s := range y.belief {
			if y.owner() != a.owner() && slices.ContainsFunc(a.belief, s.overlaps) {
				return lockbench.DoubleGrant
			}
		}
	}
	return lockbench.Overstay
}

// excuse says what the writer knew about its lock when it wrote at t.
func (s *store) excuse(a *acquisition, t lockbench.Instant) string {
	r := s.run
	if within(a.belief, t) {
		if end := a.belief[len(a.belief)-1].to; end < Forever {
			return "it held the lock by all it knew until " + r.sec(end)
		}
		return "it held the lock by all it knew"
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

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
