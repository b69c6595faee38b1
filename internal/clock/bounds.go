package clock

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Strays is by how many billionths of the time two clocks are taken to run apart at most: the
// kernel lets NTP slew each of them by 500 ppm. One that is steered faster than that, as by a chrony that
// has just started, is found out where it ran away by more than the trips are wide: then the measurements contradict each other.
const Strays = 1_000_000

// Bounds is what round trips tell of how the clock of a recorder differs from the reference. It may
// be used from any goroutine.
//
// Nothing is known of how long each way of a trip took, but that it took some time. So each
// way bounds from one side what is to be added to the recorder's clock, at one time of that: no less than what a
// question left before its arrival, no more than what an answer arrived after it left.
type Bounds struct {
	mu   sync.Mutex
	ways []bound
}

// bound is what is to be added to a time of the recorder's, in ns; one side of it may be infinite.
type bound struct {
	at        lb.Instant
	low, high float64
}

// Add takes a round trip: a question that was sent and an answer that was back, by the reference; the one came and the
// other left, by the recorder's clock.
func (b *Bounds) Add(sent, came, left, back lb.Instant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ways = append(b.ways, bound{came, float64(sent - came), math.Inf(1)}, bound{left, math.Inf(-1), float64(back - left)})
}

// Known reports whether there was a round trip.
func (b *Bounds) Known() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ways) > 0
}

// Earliest is the earliest that a time of the recorder's may have been, by the reference.
func (b *Bounds) Earliest(t lb.Instant) lb.Instant {
	b.mu.Lock()
	defer b.mu.Unlock()
	low := math.Inf(-1)
	for _, w := range b.ways {
		low = max(low, w.low-stray(w.at, t))
	}
	if math.IsInf(low, 0) {
		return t
	}
	return t + lb.Instant(math.Floor(low))
}

// stray is how far the clocks may have run apart between two times, in ns.
func stray(a, b lb.Instant) float64 { return math.Abs(float64(b-a)) * (Strays / 1e9) }

// Line is the line that keeps closest to what was measured, and how far from it the offset may be, then or in
// between.
func (b *Bounds) Line() (Line, error) {
	tight, err := b.tight()
	if err != nil {
		return Line{}, err
	}
	from, to := tight[0].at, tight[len(tight)-1].at
	base := tight[0].high // small numbers are exact
	var low, high []place // where it was measured
	var widest struct{ low, high []place }
	for i, w := range tight {
		low, high = append(low, place{float64(w.at - from), w.low - base}), append(high, place{float64(w.at - from), w.high - base})
		if i+1 < len(tight) { // and where, between two measurements, the most is possible
			next := tight[i+1]
			middle, half := float64(w.at-from)+float64(next.at-w.at)/2, stray(w.at, next.at)/2
			widest.high = append(widest.high, place{middle + (next.high-w.high)/2/(Strays/1e9), (w.high+next.high)/2 + half - base})
			widest.low = append(widest.low, place{middle - (next.low-w.low)/2/(Strays/1e9), (w.low+next.low)/2 - half - base})
		}
	}
	// The line follows the measurements; their width is convex in the slope.
	a, z := -Strays/1e9, Strays/1e9
	for range 100 {
		left, right := a+(z-a)/3, z-(z-a)/3
		if width(low, high, left) <= width(low, high, right) {
			z = right
		} else {
			a = left
		}
	}
	l := Line{PPB: int64(math.Round((a + z) / 2 * 1e9)), From: from, To: to, Strays: Strays}
	slope := float64(l.PPB) / 1e9
	bottom, top := sides(low, high, slope)
	middle := math.Round((bottom + top) / 2)
	l.Offset = time.Duration(base + middle)
	const rounding = 2 // ns
	far := func() time.Duration { return time.Duration(math.Ceil(max(top-middle, middle-bottom))) + rounding }
	l.Likely = far()
	bottom, top = sides(append(low, widest.low...), append(high, widest.high...), slope)
	l.Error = far()
	return l, nil
}

// place is a point of one side of what is allowed, in ns since the first measurement.
type place struct{ at, is float64 }

// sides are those of the narrowest strip of this slope in which all that is allowed lies.
func sides(low, high []place, slope float64) (bottom, top float64) {
	bottom, top = math.Inf(1), math.Inf(-1)
	for _, p := range low {
		bottom = min(bottom, p.is-slope*p.at)
	}
	for _, p := range high {
		top = max(top, p.is-slope*p.at)
	}
	return bottom, top
}

func width(low, high []place, slope float64) float64 {
	bottom, top := sides(low, high, slope)
	return top - bottom
}

// tight is what all measurements together allow at the time of each: the tightest bounds win,
// and hold for others as far as the clocks can't have run apart meanwhile.
func (b *Bounds) tight() ([]bound, error) {
	b.mu.Lock()
	all := slices.Clone(b.ways)
	b.mu.Unlock()
	if len(all) == 0 {
		return nil, errors.New("the clock was not compared")
	}
	slices.SortStableFunc(all, func(x, y bound) int { return cmp.Compare(x.at, y.at) })
	narrow := func(w *bound, by bound) {
		far := stray(w.at, by.at)
		w.low, w.high = max(w.low, by.low-far), min(w.high, by.high+far)
	}
	for i := 1; i < len(all); i++ {
		narrow(&all[i], all[i-1])
	}
	for i := len(all) - 2; i >= 0; i-- {
		narrow(&all[i], all[i+1])
	}
	for _, w := range all {
		if w.low > w.high {
			return nil, fmt.Errorf("the clock was set, or ran more than %d ppm apart from the others: let NTP slew it, and set it before a run", Strays/1000)
		}
	}
	return all, nil
}
