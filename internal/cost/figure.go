package cost

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// Figure is one quantity, measured once a round.
type Figure struct {
	Unit string `json:"unit"`
	// Values by round. A round in which it could not be measured is left out.
	Values []Value `json:"values"`
	Summary
}

// Value is what one round has measured.
type Value struct {
	Round int     `json:"round"`
	V     float64 `json:"value"`
}

// Summary is the median with its interval. Low and High are those of a confidence of 95%
// or more, or, where too few rounds allow none, the least and the greatest value.
type Summary struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Confidence in the interval, from 0 to 1: 0 where there is none.
	Confidence float64 `json:"confidence"`
}

const confidence = .95

// Add adds the value of a round.
func (f *Figure) Add(round int, v float64) {
	f.Values = append(f.Values, Value{round, v})
	f.Summary = summarize(f.Plain())
}

// Plain are the values alone.
func (f *Figure) Plain() (values []float64) {
	for _, v := range f.Values {
		values = append(values, v.V)
	}
	return values
}

// summarize assumes nothing of how the values are distributed.
func summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	s := benchmath.NewSample(values, &benchmath.DefaultThresholds)
	m := benchmath.AssumeNothing.Summary(s, confidence)
	if math.IsInf(m.Lo, 0) || math.IsInf(m.Hi, 0) {
		return Summary{Median: m.Center, Low: s.Values[0], High: s.Values[len(s.Values)-1]}
	}
	return Summary{Median: m.Center, Low: m.Lo, High: m.Hi, Confidence: m.Confidence}
}

// Ratio of two figures of the same run, round by round, so that what slowed both of a
// round down does not count.
func Ratio(of, to *Figure) Figure {
	return byRound("×", of, to, func(of, to float64) float64 { return of / to })
}

// byRound combines two figures of the same run, where both have a value and the second is
// not 0.
func byRound(unit string, of, to *Figure, combine func(of, to float64) float64) Figure {
	r := Figure{Unit: unit}
	if of == nil || to == nil {
		return r
	}
	by := map[int]float64{}
	for _, v := range to.Values {
		by[v.Round] = v.V
	}
	for _, v := range of.Values {
		if d := by[v.Round]; d != 0 {
			r.Values = append(r.Values, Value{v.Round, combine(v.V, d)})
		}
	}
	r.Summary = summarize(r.Plain())
	return r
}

// Agree reports whether the intervals of two figures have a value in common.
func Agree(a, b Summary) bool { return a.Low <= b.High && b.Low <= a.High }
