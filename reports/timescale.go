package reports

import (
	"math"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// timescale maps instants to the x axis. Where nothing of interest happens for
// long, time is cut out: a process frozen for seconds and the millisecond in
// which it wrote must be seen in one picture. All parts that remain have one
// scale, so that what is drawn long took long.
type timescale struct {
	parts []part
	perNS float64 // pixels per nanosecond within a part
}

type part struct {
	period
	x0, x1 float64
}

const (
	breakWidth = 74
	maxBreaks  = 5
	// A gap is cut only if it is this many times longer than all smaller ones
	// together: else it can well be drawn.
	cutRatio = 6
	// and only if what is kept is less than this part of the whole.
	cutBelow = 0.025
	// maxTicks of one part.
	maxTicks = 64
)

// newTimescale lays the window out between x0 and x1. The anchors, inside of
// the window, are what must stay visible.
func newTimescale(window period, anchors []lb.Instant, x0, x1 float64) timescale {
	anchors = slices.Compact(slices.Sorted(slices.Values(anchors)))
	periods := cut(window, anchors)
	var kept lb.Instant
	for _, p := range periods {
		kept += p.To - p.From
	}
	perNS := (x1 - x0 - breakWidth*float64(len(periods)-1)) / float64(max(kept, 1))
	ts := timescale{perNS: perNS}
	x := x0
	for _, p := range periods {
		end := x + perNS*float64(p.To-p.From)
		ts.parts = append(ts.parts, part{p, x, end})
		x = end + breakWidth
	}
	return ts
}

// cut divides the window at the gaps between anchors that are out of proportion
// and leaves some air around each part.
func cut(window period, anchors []lb.Instant) []period {
	points := append([]lb.Instant{window.From}, anchors...)
	points = append(points, window.To)
	limit, kept := longestKept(points)
	pad := kept/16 + 1
	out := []period{window}
	for i, from := range points[:len(points)-1] {
		gap := points[i+1] - from
		if gap <= limit || gap < 3*pad {
			continue
		}
		out[len(out)-1].To = from + pad
		out = append(out, period{From: points[i+1] - pad, To: window.To})
	}
	out[0].From -= pad
	out[len(out)-1].To += pad
	return out
}

// longestKept finds the longest gap that is not cut, and how much time all the
// kept ones have together.
func longestKept(points []lb.Instant) (limit, kept lb.Instant) {
	var gaps []lb.Instant
	for i := range points[:len(points)-1] {
		if g := points[i+1] - points[i]; g > 0 {
			gaps = append(gaps, g)
		}
	}
	slices.Sort(gaps)
	whole := points[len(points)-1] - points[0]
	for i, g := range gaps {
		if i >= 2 && len(gaps)-i <= maxBreaks && float64(kept) < cutBelow*float64(whole) && g > cutRatio*kept {
			return gaps[i-1], kept
		}
		kept += g
	}
	return math.MaxInt64, kept
}

// x is where t is drawn; within a break proportionally, so that bars that cross
// it stay whole.
func (ts timescale) x(t lb.Instant) float64 {
	first, last := ts.parts[0], ts.parts[len(ts.parts)-1]
	if t <= first.From {
		return first.x0
	}
	for i, p := range ts.parts {
		if t <= p.To {
			if t >= p.From {
				return p.x0 + ts.perNS*float64(t-p.From)
			}
			prev := ts.parts[i-1]
			return prev.x1 + breakWidth*float64(t-prev.To)/float64(p.From-prev.To)
		}
	}
	return last.x1
}

// shows reports whether p is at least partly drawn outside of the breaks.
func (ts timescale) shows(p period) bool {
	return slices.ContainsFunc(ts.parts, func(q part) bool { return meets(q.period, p) })
}

// tick is a mark of the axis.
type tick struct {
	at lb.Instant
	x  float64
}

// ticks are marks at round times since zero, at least gap pixels apart, and the
// number of decimals that tells them apart in seconds.
func (ts timescale) ticks(zero lb.Instant, gap float64) ([]tick, int) {
	step := lb.Instant(niceStep(gap / ts.perNS))
	finest := step
	var out []tick
	for _, p := range ts.parts {
		n := len(out)
		for t := zero + (p.From-zero+step-1)/step*step; t <= p.To && len(out) < n+maxTicks; t += step {
			if t >= zero {
				out = append(out, tick{t, ts.x(t)})
			}
		}
		if len(out) == n { // a part too short for a round time still needs one
			fine := max(step/10, 1)
			mid := zero + (p.From+(p.To-p.From)/2-zero)/fine*fine
			out = append(out, tick{mid, ts.x(mid)})
			finest = fine
		}
	}
	decimals := 0
	for s := float64(finest) / 1e9; s < 0.999 && decimals < 9; s *= 10 {
		decimals++
	}
	return out, decimals
}

// niceStep is the smallest 1, 2 or 5 times a power of ten that is at least min.
func niceStep(min float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(max(min, 10))))
	for _, m := range []float64{1, 2, 5} {
		if base*m >= min {
			return base * m
		}
	}
	return base * 10
}
