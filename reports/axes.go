package reports

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// How many labels an axis has: two say where it begins and ends, and only the third that it
// is logarithmic; more than there is room for could not be read.
const (
	leastLabels = 3
	mostLabels  = 5
)

// logTicks marks a logarithmic axis, each label as label writes its value.
type logTicks struct{ label func(float64) string }

func (t logTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	for _, v := range marks(lo, hi) {
		ticks = append(ticks, plot.Tick{Value: v, Label: t.label(v)})
	}
	if hi/lo < 1e5 { // else they would be a blur
		for _, v := range powers(lo, hi, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
			ticks = append(ticks, plot.Tick{Value: v})
		}
	}
	return ticks
}

// marks are the values of a logarithmic axis that have a label: as many powers of ten, or
// parts of them, as there is room for. On an axis that [reach.wide] has made they are three to
// seven.
func marks(lo, hi float64) (best []float64) {
	for _, list := range [][]float64{
		powers(lo, hi, 4, 1), powers(lo, hi, 3, 1), powers(lo, hi, 2, 1),
		powers(lo, hi, 1, 1), powers(lo, hi, 1, 1, 3), powers(lo, hi, 1, 1, 2, 5),
	} {
		if n := len(list); n >= leastLabels && (best == nil || n <= mostLabels) {
			best = list
		}
	}
	if best == nil {
		return evenly(lo, hi)
	}
	return best
}

// powers are the values from lo to hi that are one of the factors times a power of ten, of
// which only each nth counts.
func powers(lo, hi float64, nth int, factors ...float64) (list []float64) {
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for _, f := range factors {
			if v := f * math.Pow10(e); e%nth == 0 && v >= lo && v <= hi {
				list = append(list, v)
			}
		}
	}
	return list
}

// evenly are the multiples of the largest round step of which there are enough.
func evenly(lo, hi float64) (list []float64) {
	for e := int(math.Ceil(math.Log10(hi - lo))); len(list) < leastLabels; e-- {
		for _, f := range []float64{5, 2, 1} {
			step := f * math.Pow10(e)
			list = nil
			for n := math.Ceil(lo / step); n*step <= hi; n++ {
				list = append(list, n*step)
			}
			if len(list) >= leastLabels {
				break
			}
		}
	}
	return list
}

// reach is what an axis shows.
type reach struct{ lo, hi float64 }

// wide is the range as a logarithmic axis shows it: at least from one value to its double,
// since less would make much of nothing.
func (r reach) wide() reach {
	if r.hi < 2*r.lo {
		middle := math.Sqrt(r.lo * r.hi)
		return reach{middle / math.Sqrt2, middle * math.Sqrt2}
	}
	return r
}

// valueTicks marks the values that were measured, where they were chosen beforehand.
type valueTicks []curve

func (t valueTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	var list []float64
	for _, c := range t {
		for _, p := range c.points {
			list = append(list, p.X)
		}
	}
	slices.Sort(list)
	for _, v := range slices.Compact(list) {
		ticks = append(ticks, plot.Tick{Value: v, Label: plain(v)})
	}
	return ticks
}

// shareTicks marks a share, or an index, from 0 to 1.
type shareTicks struct {
	label func(float64) string
	at    []float64
}

func (t shareTicks) Ticks(_, _ float64) (ticks []plot.Tick) {
	for _, v := range t.at {
		ticks = append(ticks, plot.Tick{Value: v, Label: t.label(v)})
	}
	return ticks
}

// percents writes a share.
func percents(v float64) string { return plain(100*v) + "%" }

// plain writes a number with up to three digits that count: "0.25", "4", "150", "20k".
func plain(v float64) string {
	switch {
	case v >= 1e6:
		return plain(v/1e6) + "M"
	case v >= 1e4:
		return plain(v/1e3) + "k"
	}
	three, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		three = v // not a number
	}
	return strconv.FormatFloat(three, 'f', -1, 64)
}

// timeMark writes a time in milliseconds as [span] does, without the digits that a mark of an
// axis does not need.
func timeMark(ms float64) string {
	switch {
	case ms >= 999.5:
		return plain(ms/1e3) + " s"
	case ms >= .9995:
		return plain(ms) + " ms"
	}
	return plain(ms*1e3) + " µs"
}
