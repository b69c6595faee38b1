package cost

import (
	"maps"
	"slices"
)

// Judged is a figure that decides, in terms of its yardstick.
type Judged struct {
	Key
	Measure
	Figure
}

// sought are the measures of which a benchmark seeks to be sure. A tail takes too many.
var sought = []Measure{Cycle, HandOffs, P50}

// Judge are the cycles and hand-offs that decide on a quiet machine, and that a benchmark seeks to be sure of.
func (b *Bench) Judge() (all []Judged) {
	for _, c := range b.Cells {
		for _, m := range slices.Sorted(maps.Keys(c.Figures)) {
			if !slices.Contains(sought, m) || !b.felt(c.Key, m) {
				continue
			}
			if f := b.Relative(c.Key, m); f.Median > 0 { // else there is no server, or nobody hands anything on
				all = append(all, Judged{c.Key, m, f})
			}
		}
	}
	return all
}

// Unsure are those of them whose interval reaches farther than the plan's precision.
func (b *Bench) Unsure() (list []Judged) {
	return slices.DeleteFunc(b.Judge(), func(j Judged) bool { return j.Confidence > 0 && j.Reach() <= b.Plan.Precision })
}

// Reach is how far the interval reaches from the median, which is not 0, as a share of it.
func (s Summary) Reach() float64 { return max(s.High-s.Median, s.Median-s.Low) / s.Median }
