package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/history"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// latencySeries is how long the grants of one run took, sorted, in milliseconds.
type latencySeries struct {
	name string
	ms   []float64
}

type latencyRow struct{ Name, N, P50, P90, P99, Max string }

const (
	// linePoints bounds a curve: twenty thousand points make megabytes of SVG.
	linePoints = 400
	// plotLines bounds the lines of one plot that a reader can tell apart.
	plotLines = 8
	// leastMS is the least latency on a logarithmic axis: 1 µs. Below it the
	// clock says nothing, and at 0 the axis has no place.
	leastMS = 0.001
)

// acquireLatencies are the times from call to return of the granted
// acquisitions, sorted.
func acquireLatencies(ix *history.Index) []float64 {
	var out []float64
	for i := range ix.Acqs {
		if a := &ix.Acqs[i]; a.Granted() {
			out = append(out, float64(a.Return-a.Call)/1e6)
		}
	}
	slices.Sort(out)
	return out
}

// quantile of a sorted, non-empty list: the nearest rank.
func quantile(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func latencyRows(series []latencySeries) []latencyRow {
	var out []latencyRow
	for _, s := range series {
		if len(s.ms) == 0 {
			continue
		}
		at := func(q float64) string { return span(quantile(s.ms, q)) }
		out = append(out, latencyRow{s.name, strconv.Itoa(len(s.ms)), at(.5), at(.9), at(.99), at(1)})
	}
	return out
}

// latencyFigures draws one plot per family of locks ("Redis", "ZooKeeper"), all on the
// same axis, so that the lines stay few and the plots comparable.
func latencyFigures(series []latencySeries) []figure {
	series = slices.DeleteFunc(slices.Clone(series), func(s latencySeries) bool { return len(s.ms) == 0 })
	lo, hi := math.Inf(1), 0.0
	for _, s := range series {
		lo, hi = min(lo, s.ms[0]), max(hi, s.ms[len(s.ms)-1])
	}
	lo = max(lo, leastMS)
	hi = max(hi, 2*lo)
	var out []figure
	for _, f := range families(series) {
		p, legend := newPlot(), newLegend()
		p.X.Label.Text = "time from call to grant"
		p.Y.Label.Text = "share of grants"
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, durationTicks{}
		p.Y.Tick.Marker = percentTicks{}
		p.Add(verticals())
		for i, s := range f.series {
			line, err := plotter.NewLine(ecdf(s.ms))
			if err != nil {
				continue // only for an empty series or NaN, of which there are none
			}
			line.Color = palette[i%len(palette)]
			line.Dashes = dashes[i/len(palette)%len(dashes)]
			line.Width = vg.Points(1.7)
			p.Add(line)
			legend.Add(s.name, line)
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, 0, 1
		out = append(out, figure{
			plotView{Title: "Time to acquire: " + f.name + ".", File: "latency-" + f.file(),
				Caption: "The share of grants that took at most so long, in runs without a fault; waiting for the other clients included."},
			p, legend, 3.2 * vg.Inch,
		})
	}
	return out
}

type family struct {
	name   string
	series []latencySeries
}

// families groups by kin, as the matrix does. Locks alone in their family share
// one named "Others"; more than fit a plot are spread evenly over several.
func families(series []latencySeries) []family {
	byName := make(map[string][]latencySeries)
	var names []string
	for _, s := range series {
		names = append(names, s.name)
		byName[s.name] = append(byName[s.name], s)
	}
	groups, alone := lockKin.groups(names), group{Title: others}
	for _, g := range groups {
		if len(g.Names) == 1 || g.Title == others {
			alone.Names = append(alone.Names, g.Names...)
		}
	}
	groups = slices.DeleteFunc(groups, func(g group) bool { return slices.Contains(alone.Names, g.Names[0]) })
	if len(alone.Names) > 0 {
		groups = append(groups, alone)
	}
	var out []family
	for _, g := range groups {
		plots := (len(g.Names) + plotLines - 1) / plotLines
		i := 0
		for part := range slices.Chunk(g.Names, (len(g.Names)+plots-1)/plots) {
			i++
			f := family{name: g.Title}
			if i > 1 {
				f.name = fmt.Sprintf("%s, %d", g.Title, i)
			}
			for _, n := range part {
				f.series = append(f.series, byName[n]...)
			}
			out = append(out, f)
		}
	}
	return out
}

// file is the family's name as part of a file's.
func (f family) file() string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(f.name))
}

// ecdf is the empirical distribution, thinned to linePoints.
func ecdf(sorted []float64) plotter.XYs {
	n := min(len(sorted), linePoints)
	out := make(plotter.XYs, n)
	for i := range n {
		k := i
		if n > 1 {
			k = i * (len(sorted) - 1) / (n - 1)
		}
		out[i] = plotter.XY{X: max(sorted[k], leastMS), Y: float64(k+1) / float64(len(sorted))}
	}
	return out
}
