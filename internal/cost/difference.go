package cost

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"golang.org/x/perf/benchmath"
)

// Difference is how a figure of one benchmark stands to the same figure of an earlier one.
// Nothing is assumed of how the values are distributed.
type Difference struct {
	// Ratio of now to before, 1 for no difference: the median of the ratios of each value to
	// each (Hodges and Lehmann's estimate).
	Ratio float64 `json:"ratio"`
	// Low and High are the interval in which it lies: all ratios that the test does not
	// refute. Where there are too few values for one, they are the least and the greatest.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Confidence in the interval, 0.95 or more: 0 where there is none.
	Confidence float64 `json:"confidence"`
	// P is how probable values as far apart as these are, if nothing had changed: that of
	// the Mann-Whitney U test, for both sides.
	P float64 `json:"p"`
	// Least is the least P that so many values can have: 1 where all are the same.
	Least float64 `json:"least_p"`
}

// Significance is the P up to which a difference is none of chance.
const Significance = 1 - confidence

// immense is what a ratio to nothing, or its inverse, counts as.
const immense = 1e6

// Differ compares the values of two benchmarks, of which none is negative. ok is false
// where one has none.
func Differ(before, now []float64) (d Difference, ok bool) {
	n, m := len(before), len(now)
	if n == 0 || m == 0 {
		return d, false
	}
	ratios := make([]float64, 0, n*m)
	for _, b := range before {
		for _, v := range now {
			ratios = append(ratios, ratio(v, b))
		}
	}
	slices.Sort(ratios)
	d = Difference{Ratio: median(ratios), Low: ratios[0], High: ratios[len(ratios)-1], P: mannWhitney(before, now), Least: least(n, m)}
	if d.Low == 1 && d.High == 1 {
		d.Least = 1
	}
	if out := leftOut(n, m); out >= 0 {
		d.Low, d.High, d.Confidence = ratios[out], ratios[len(ratios)-1-out], 1-apart(n, m, out)
	}
	return d, true
}

func ratio(of, to float64) float64 {
	switch {
	case of == to:
		return 1
	case to == 0:
		return immense
	}
	return min(max(of/to, 1/immense), immense)
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func mannWhitney(before, now []float64) float64 {
	sample := func(values []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	}
	return min(1, benchmath.AssumeNothing.Compare(sample(before), sample(now)).P)
}

// least is P where each of n values is less than each of m: 2 / C(n+m, n).
func least(n, m int) float64 {
	p := 2.0
	for i := 1; i <= n; i++ {
		p *= float64(i) / float64(m+i)
	}
	return min(1, p)
}

// leftOut is how many of the least ratios of n values to m, and of the greatest, the test
// refutes and an interval leaves out; -1 where even all of them are too few.
func leftOut(n, m int) int {
	type sizes struct{ n, m int }
	if k, ok := leftOuts.Load(sizes{n, m}); ok {
		return k.(int)
	}
	k := sort.Search(n*m/2, func(k int) bool { return apart(n, m, k) > Significance }) - 1
	leftOuts.Store(sizes{n, m}, k)
	return k
}

var leftOuts sync.Map // of what takes long for many values

// apart is P of n values and m others of which the pairs on the wrong side are k.
func apart(n, m, k int) float64 {
	low, high := make([]float64, n), make([]float64, m)
	for i := range low {
		low[i] = float64(i)
	}
	for i := range high {
		wrong := min(max(k-i*n, 0), n) // of the pairs with this one
		high[i] = float64(n-wrong) - .5 - float64(i+1)/float64(4*m)
	}
	return mannWhitney(low, high)
}

// Holm corrects the P of tests that are made together, so that what is still below a level
// is there by chance no more often than that level says of all tests together.
// Source: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
// Journal of Statistics 6, 1979.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	corrected, worst := make([]float64, len(p)), 0.0
	for rank, i := range order {
		worst = max(worst, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = worst
	}
	return corrected
}
