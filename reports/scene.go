package reports

import (
	"iter"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// scene is what one finding's picture shows: which clients, which stretch of
// time, and the moments that tell the story. It takes some passes over the history,
// not one for each of its events.
type scene struct {
	*history.Index
	served served
	acts   map[int32]*act

	lock      int32
	named     []*act // by the finding
	principal []*act // what the story is about
	strangers []stranger
	anchors   []lb.Instant
	window    period
	lanes     []lane
	moments   []moment
	ts        timescale
	decimals  int      // that the times of the moments need
	both      []period // in which the two holders of a double grant overlap
	others    int      // clients that used the lock meanwhile and have no lane
	of        string   // the run
	cause     string   // of a double grant, "" where none was seen
}

// stranger is a release of what somebody else had acquired.
type stranger struct {
	*history.Release
	of *act
}

// runName tells a run's pictures from those of the others on the page.
func runName(p history.Plan) string { return p.Algorithm + " under " + p.Fault }

// newScene picks what to show of f. It returns nil if the history knows none of
// the finding's acquisitions.
func newScene(ix *history.Index, f checker.Finding, plan history.Plan) *scene {
	if ix == nil {
		return nil
	}
	s := &scene{Index: ix, served: newServed(ix), acts: make(map[int32]*act), of: runName(plan)}
	s.named = s.find(f)
	if len(s.named) == 0 {
		return nil
	}
	s.lock = s.named[0].Lock
	s.principal = s.principals(f)
	s.strangers = strangers(s.principal)
	for _, a := range s.principal {
		s.moments = append(s.moments, s.momentsOf(a, f)...)
	}
	s.choose(f, plan)
	s.ts = newTimescale(s.window, s.anchors, tlGutter, tlRight)
	s.lanes = s.lanesFor(f.Mechanism == lb.Ghost)
	s.number()
	_, s.decimals = s.ts.ticks(s.Start, tickGap)
	s.decimals = min(max(s.decimals+1, 3), 5)
	if f.Mechanism == lb.DoubleGrant {
		s.both = overlap(s.named, f.At)
	}
	return s
}

// find lists the finding's acquisitions, in its order. Results of old say no lock: then
// it is that of the first of them.
func (s *scene) find(f checker.Finding) []*act {
	lock := int32(slices.Index(s.Locks, f.Lock))
	if f.Lock != "" && lock < 0 {
		return nil
	}
	numbers := slices.Repeat([]int32{history.None}, len(f.IDs))
	for n := range s.Acqs {
		a := &s.Acqs[n]
		if f.Lock != "" && a.Lock != lock {
			continue
		}
		if i := slices.Index(f.IDs, s.ID(a)); i >= 0 && numbers[i] == history.None {
			numbers[i] = int32(n)
		}
	}
	var out []*act
	for _, n := range numbers {
		if n != history.None && (len(out) == 0 || s.Acqs[n].Lock == out[0].Lock) {
			out = append(out, s.act(n))
		}
	}
	return out
}

// choose decides which stretch of time is shown, and what of it must be seen.
func (s *scene) choose(f checker.Finding, plan history.Plan) {
	s.window = s.span(f)
	s.moments = slices.DeleteFunc(s.moments, func(m moment) bool { return !m.soft && !s.window.Has(m.At) })
	for _, m := range s.moments {
		if !m.soft {
			s.anchors = append(s.anchors, m.At)
		}
	}
	if f.Mechanism == lb.Ghost {
		s.anchors = append(s.anchors, s.window.To)
	}
	if len(s.anchors) > 0 {
		s.window = period{From: slices.Min(s.anchors), To: slices.Max(s.anchors)}
	}
	if s.window.To <= s.window.From {
		s.window.To = s.window.From + max(0, lb.Instant(plan.TTL/100)) + 1000
	}
}

// span is the finding's own range, as far as it says one that lies in the history,
// and else that of its moments.
func (s *scene) span(f checker.Finding) period {
	w := period{From: max(f.From, s.Start), To: min(f.To, s.Last)}
	said := w.From < w.To
	if !said {
		w = period{From: forever}
	}
	for _, m := range s.moments {
		if m.wide || !said {
			w = period{From: min(w.From, m.At), To: max(w.To, m.At)}
		}
	}
	return w
}

// overlap is the time in which the clients of two of the acquisitions relied on the
// lock at once: that of the instant t, or else the first, if there is one.
func overlap(acts []*act, t lb.Instant) []period {
	var first []period
	for i, a := range acts {
		for _, b := range acts[:i] {
			if a.Client == b.Client || a.Shared && b.Shared {
				continue
			}
			for both := range common(a.belief, b.belief) {
				if both.From <= t && t < both.To {
					return []period{both}
				}
				if first == nil {
					first = []period{both}
				}
			}
		}
	}
	return first
}

// common are the stretches that two lists, each sorted and disjoint, have in common.
func common(p, q []period) iter.Seq[period] {
	return func(yield func(period) bool) {
		for len(p) > 0 && len(q) > 0 {
			if p[0].Overlaps(q[0]) && !yield(period{From: max(p[0].From, q[0].From), To: min(p[0].To, q[0].To)}) {
				return
			}
			if p[0].To < q[0].To {
				p = p[1:]
			} else {
				q = q[1:]
			}
		}
	}
}

func strangers(acts []*act) []stranger {
	var out []stranger
	for _, a := range acts {
		for _, r := range few(a.releases, maxReleases) {
			if r.Client != a.Client {
				out = append(out, stranger{r, a})
			}
		}
	}
	return out
}
