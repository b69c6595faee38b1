package reports

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lockbench/lockbench/internal/cost"
)

// benchFigures are the plots of a benchmark.
func benchFigures(b *cost.Bench) (out []figure) {
	add := func(f figure, ok bool) {
		if ok {
			out = append(out, f)
		}
	}
	add(dotFigure(b, dots{
		plotView{Title: "A cycle, in round trips.", File: "cycle",
			Caption: "Acquire and release when nobody else wants it, as a multiple of the cheapest round trip to the same server, with its interval."},
		"multiple of the floor", plot.LogScale{}, func(lock string, s cost.Servers) cost.Figure {
			k := cost.Uncontended(lock, s)
			return cost.Ratio(b.Figure(k, cost.Cycle), b.Figure(k, cost.Floor))
		},
	}))
	add(dotFigure(b, dots{
		plotView{Title: "Fairness.", File: "fairness",
			Caption: "Jain’s index of what each of 16 clients was granted in a round: 1 is even, 1/16 is all for one."},
		"Jain’s index", plot.LinearScale{}, func(lock string, s cost.Servers) cost.Figure {
			if f := b.Figure(cost.Contended(lock, s), cost.Fair); f != nil {
				return *f
			}
			return cost.Figure{}
		},
	}))
	out = append(out, curvePlots{"Time of a hand-off", "handoff", "With 16 clients, on the disk: the share of hand-offs that took at most so long, of all rounds together.",
		func(p *plot.Plot) {
			p.X.Label.Text, p.Y.Label.Text = "from release to the grant to another", "share of hand-offs"
			p.X.Scale, p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogScale{}, durationTicks{}, percentTicks{}
		}, false}.figures(handOffCurves(b))...)
	out = append(out, curvePlots{"Throughput by contenders", "contenders", "Grants per second of one lock, barging included, by how many clients want it.",
		logLog("clients"), true}.figures(byKey(b, func(k cost.Key) (float64, bool) { return float64(k.Clients), k.Locks == 1 }))...)
	out = append(out, curvePlots{"Throughput by locks", "locks", "Grants per second of 16 clients in all, by how many locks they choose from.",
		logLog("locks"), true}.figures(byKey(b, func(k cost.Key) (float64, bool) { return float64(k.Locks), k.Clients == cost.Contenders }))...)
	return out
}

// logLog is the style of the throughputs.
func logLog(x string) func(*plot.Plot) {
	return func(p *plot.Plot) {
		p.X.Label.Text, p.Y.Label.Text = x, "grants per second"
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Tick.Marker, p.Y.Tick.Marker = plainTicks{}, plainTicks{}
	}
}

// leastMS is the least latency on a logarithmic axis: 1 µs. Below it the clock says
// nothing, and at 0 the axis has no place.
const leastMS = 0.001

func handOffCurves(b *cost.Bench) (curves []curve) {
	for _, lock := range b.Plan.Algorithms {
		if c := b.Find(cost.Contended(lock, cost.Disk)); c != nil && len(c.Latency) > 1 {
			k := curve{name: lock}
			for _, q := range c.Latency {
				k.points = append(k.points, plotter.XY{X: max(ms(q.At), leastMS), Y: q.Q})
			}
			curves = append(curves, k)
		}
	}
	return curves
}

// byKey are throughputs by something of a cell's key, in the column that has the curves.
func byKey(b *cost.Bench, x func(cost.Key) (float64, bool)) (curves []curve) {
	for _, lock := range b.Plan.Algorithms {
		k := curve{name: lock}
		for _, c := range b.Cells {
			at, ok := x(c.Key)
			f := c.Figures[cost.Grants]
			if ok && c.Algorithm == lock && c.Servers == cost.Disk && c.Loop == cost.Closed && f != nil && f.Median > 0 {
				k.points = append(k.points, plotter.XY{X: at, Y: f.Median})
			}
		}
		slices.SortFunc(k.points, func(a, b plotter.XY) int { return int(a.X - b.X) })
		if len(k.points) > 2 {
			curves = append(curves, k)
		}
	}
	return curves
}

// dots is a plot with a row for each lock, and a dot with its interval for each column of
// the benchmark.
type dots struct {
	plotView
	axis  string
	scale plot.Normalizer
	value func(lock string, s cost.Servers) cost.Figure
}

// dotFigure draws it; false if there is nothing to draw.
func dotFigure(b *cost.Bench, d dots) (figure, bool) {
	p, legend := newPlot(), newLegend()
	p.X.Label.Text, p.X.Scale = d.axis, d.scale
	p.Add(verticals(), rails())
	_, log := d.scale.(plot.LogScale)
	if log {
		p.X.Tick.Marker = plainTicks{}
	}
	var rows []string
	for _, lock := range b.Plan.Algorithms {
		if len(d.value(lock, cost.Disk).Values)+len(d.value(lock, cost.Memory).Values) > 0 {
			rows = append(rows, lock)
		}
	}
	x := reach{math.Inf(1), 0}
	for i, s := range []cost.Servers{cost.Disk, cost.Memory} {
		var points plotter.XYs
		for r, lock := range rows {
			f := d.value(lock, s)
			if len(f.Values) == 0 || log && f.Low <= 0 {
				continue
			}
			y := float64(len(rows)-1-r) + .18 - .36*float64(i)
			points = append(points, plotter.XY{X: f.Median, Y: y})
			x.lo, x.hi = min(x.lo, f.Low), max(x.hi, f.High)
			p.Add(whisker(f.Low, f.High, y, palette[i]))
		}
		if len(points) == 0 {
			continue
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			continue // only for NaN, of which there are none
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: palette[i], Radius: vg.Points(3.4), Shape: shapes[i]}
		p.Add(scatter)
		legend.Add(string(s), scatter)
	}
	if x.hi <= 0 {
		return figure{}, false
	}
	p.X.Min, p.X.Max = 0, max(1, x.hi)
	if log {
		p.X.Min, p.X.Max = x.lo/1.3, x.hi*1.3
	}
	p.NominalY(reversed(rows)...)
	p.Y.Min, p.Y.Max = -.6, float64(len(rows))-.4
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	return figure{d.plotView, p, legend, vg.Length(len(rows))*20 + 60}, true
}

// whisker is a bar from low to high.
func whisker(low, high, y float64, c color.Color) *plotter.Line {
	l := &plotter.Line{XYs: plotter.XYs{{X: low, Y: y}, {X: high, Y: y}}}
	l.Color, l.Width = c, vg.Points(1.4)
	return l
}

// plainTicks marks a logarithmic axis with numbers.
type plainTicks struct{}

func (plainTicks) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	few := hi/lo < 100
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < lo || v > hi {
				continue
			}
			label := ""
			if m == 1 || few && (m == 2 || m == 5) {
				label = strconv.FormatFloat(v, 'g', 3, 64)
			}
			out = append(out, plot.Tick{Value: v, Label: label})
		}
	}
	return out
}
