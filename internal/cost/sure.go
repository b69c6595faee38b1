package cost

import (
	"maps"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
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

// Needed is about how many rounds it takes until nine of ten figures that decide are sure, by the root of the rounds with which
// an interval narrows; 0 where that can't be told, because more than one of ten has no interval of [confidence] yet.
func (b *Bench) Needed() int {
	all := b.Judge()
	var rounds []float64
	for _, j := range all {
		n := math.Inf(1)
		if j.Confidence > 0 && j.Confidence < 1 {
			n = j.needed(b.Plan.Precision)
		}
		rounds = append(rounds, n)
	}
	slices.Sort(rounds)
	if at := (9*len(rounds)+9)/10 - 1; at >= 0 && !math.IsInf(rounds[at], 1) {
		return int(math.Ceil(rounds[at]))
	}
	return 0
}

// needed is about how many values make the interval of a figure reach no farther. One of few values has more confidence than
// was asked for, and is wider for it.
func (j Judged) needed(precision float64) float64 {
	narrower := z(confidence) / z(j.Confidence)
	return float64(len(j.Values)) * math.Pow(j.Reach()*narrower/precision, 2)
}

// z is how many standard deviations on either side of its middle hold that share of a normal distribution.
func z(share float64) float64 { return stats.InvCDF(stats.StdNormal)((1 + share) / 2) }
