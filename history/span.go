package history

import (
	"cmp"
	"math"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// Forever is the return of an operation that may still take effect at any later
// time, and the end of what nothing is known to end.
const Forever = lb.Instant(math.MaxInt64)

// Span is a stretch of time.
type Span struct{ From, To lb.Instant }

// Overlaps reports whether the two have more than an instant in common.
func (s Span) Overlaps(o Span) bool { return s.From < o.To && o.From < s.To }

// Has reports whether t lies in s, ends included.
func (s Span) Has(t lb.Instant) bool { return s.From <= t && t <= s.To }

// Within reports whether t lies in one of the spans, ends included.
func Within(spans []Span, t lb.Instant) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.Has(t) })
}

// clip cuts the spans off at stop, in place, and drops what is empty.
func clip(spans []Span, stop lb.Instant) []Span {
	kept := spans[:0]
	for _, s := range spans {
		if s.To = min(s.To, stop); s.From < s.To {
			kept = append(kept, s)
		}
	}
	return kept
}

// Union sorts spans and merges those that touch.
func Union(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Crowded are the stretches in which at least n of the spans have an instant in common: [Union] for one.
func Crowded(spans []Span, n int) (out []Span) {
	if n <= 1 {
		return Union(spans)
	}
	type edge struct {
		at lb.Instant
		by int
	}
	edges := make([]edge, 0, 2*len(spans))
	for _, s := range spans {
		edges = append(edges, edge{s.From, +1}, edge{s.To, -1})
	}
	// Beginnings come before ends: spans that touch have that instant in common.
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.by, a.by)) })
	now := 0
	for _, e := range edges {
		switch now += e.by; {
		case e.by > 0 && now == n:
			out = append(out, Span{e.at, e.at})
		case e.by < 0 && now == n-1:
			out[len(out)-1].To = e.at
		}
	}
	return out
}

// Without removes b from a. Both are sorted and disjoint.
func Without(a, b []Span) []Span {
	var out []Span
	for _, s := range a {
		for len(b) > 0 && b[0].To <= s.From {
			b = b[1:]
		}
		for _, x := range b {
			if x.From >= s.To {
				break
			}
			if s.From < x.From {
				out = append(out, Span{s.From, x.From})
			}
			s.From = max(s.From, min(x.To, s.To))
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// Length is how much of s the spans, sorted and disjoint, cover.
func Length(spans []Span, s Span) lb.Instant {
	var sum lb.Instant
	for _, x := range spans {
		if x.From >= s.To {
			break
		}
		sum += max(0, min(x.To, s.To)-max(x.From, s.From))
	}
	return sum
}

// Lease is how long a grant lasts, as renewals move its end.
type Lease struct{ End lb.Instant }

// NewLease begins with the until of a grant, 0 for none.
func NewLease(until lb.Instant) Lease {
	if until == 0 {
		return Lease{Forever}
	}
	return Lease{until}
}

// Renew moves the end, never back. The first renewal of a grant without an end
// gives it one.
func (l *Lease) Renew(until lb.Instant) {
	if l.End == Forever {
		l.End = until
		return
	}
	l.End = max(l.End, until)
}
