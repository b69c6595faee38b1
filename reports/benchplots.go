package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/lockbench/lockbench/internal/cost"
)

// benchPlots are the plots of a benchmark: those that answer for all locks, and to be
// unfolded the curves, family by family.
func benchPlots(b *cost.Bench) []plotGroup {
	var both []series
	for _, s := range b.Columns() {
		both = append(both, series{string(s), b, s})
	}
	onDisk := ", on the disk"
	if b.Main() == cost.Given { // what those keep, nobody knows
		onDisk = ""
	}
	groups := []plotGroup{
		{figures: overview(b.Plan.Algorithms, both, lockCycle, lockCrowd)},
		farPlots(b),
		{Title: "How long a hand-off takes",
			Intro:   fmt.Sprintf("With %d clients%s: the share of the hand-offs of all rounds that took at most so long.", cost.Contenders, onDisk),
			figures: handOffPlots.figures(handOffCurves(b))},
		{Title: "Throughput by contenders",
			Intro:   "Grants per second of one lock" + onDisk + ", barging included, by how many clients want it.",
			figures: throughputPlots("contenders", "clients").figures(byKey(b, func(k cost.Key) (int, bool) { return k.Clients, k.Locks == 1 }))},
		{Title: "Throughput by locks",
			Intro:   fmt.Sprintf("Grants per second of %d clients in all%s, by how many locks they choose from.", cost.Contenders, onDisk),
			figures: throughputPlots("locks", "locks").figures(byKey(b, func(k cost.Key) (int, bool) { return k.Locks, k.Clients == cost.Contenders }))},
		{Title: "Fairness",
			Intro:   fmt.Sprintf("How evenly %d clients were granted the lock: 1 is even, 1/%[1]d is all for one.", cost.Contenders),
			figures: overview(b.Plan.Algorithms, both, lockFair)},
	}
	return slices.DeleteFunc(groups, func(g plotGroup) bool { return len(g.figures) == 0 })
}

// The plots in which all locks stand below each other.
var (
	lockCycle = dots{
		plotView: plotView{Title: "Acquire and release", File: "cycle",
			Caption: "When nobody else wants it, beside the cheapest round trip to the same server"},
		axis: "time", ticks: logTicks{func(ns float64) string { return timeMark(ns / 1e6) }}, show: duration,
		key: cost.Uncontended, value: cost.Cycle, mark: cost.Floor, beside: "a round trip",
	}
	lockCrowd = dots{
		plotView: plotView{Title: "Hand-offs", File: "crowd",
			Caption: fmt.Sprintf("Per second, from one to another of %d clients", cost.Contenders)},
		axis: "hand-offs/s", ticks: logTicks{plain}, show: number3,
		key: cost.Contended, value: cost.HandOffs,
	}
	lockFair = dots{
		plotView: plotView{Title: "Fairness", File: "fairness",
			Caption: fmt.Sprintf("Jain’s index of what each of %d clients was granted", cost.Contenders)},
		axis: "Jain’s index", ticks: shareTicks{plain, []float64{0, .25, .5, .75, 1}}, show: number3,
		key: cost.Contended, value: cost.Fair,
	}
)

// overview draws the locks that are of use there. The control, which has no servers, is not:
// it would take the axis for itself.
func overview(locks []string, list []series, kinds ...dots) (out []figure) {
	locks = slices.DeleteFunc(slices.Clone(locks), func(lock string) bool {
		return !slices.ContainsFunc(list, func(s series) bool { return s.of.Served(lock) })
	})
	for _, d := range kinds {
		d.series = list
		if f, ok := d.figure(locks); ok {
			out = append(out, f)
		}
	}
	return out
}

var handOffPlots = curvePlots{
	title: "Time of a hand-off", file: "handoff",
	style: func(p *plot.Plot) {
		p.X.Label.Text, p.Y.Label.Text = "time", "share of hand-offs"
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{timeMark}
		p.Y.Tick.Marker = shareTicks{percents, []float64{0, .25, .5, .75, .9, 1}}
	},
	says: func(float64) string { return "The median" }, value: median, show: span,
	drawn: "From left to right the time from a release to the grant to another, on a logarithmic axis; upwards the share of hand-offs that took at most so long",
}

// median of a curve of shares by time.
func median(c curve, _ float64) (float64, bool) {
	for _, p := range c.points {
		if p.Y >= .5 {
			return p.X, true
		}
	}
	return 0, false
}

// throughputPlots are of grants per second by a number of something.
func throughputPlots(file, by string) curvePlots {
	return curvePlots{
		title: "Throughput by " + file, file: file, dots: true,
		style: func(p *plot.Plot) {
			p.X.Label.Text, p.Y.Label.Text = by, "grants/s"
			p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
			p.Y.Tick.Marker = logTicks{plain}
		},
		says: func(far float64) string { return fmt.Sprintf("With %s %s", plain(far), by) },
		value: func(c curve, far float64) (float64, bool) {
			last := c.points[len(c.points)-1]
			return last.Y, last.X == far
		},
		show:  func(v float64) string { return plain(v) + "/s" },
		drawn: "From left to right the number of " + by + ", upwards the grants per second, both on logarithmic axes",
	}
}

// leastMS is the least latency on a logarithmic axis: 1 µs. Below it the clock says
// nothing, and at 0 the axis has no place.
const leastMS = 0.001

func handOffCurves(b *cost.Bench) (curves []curve) {
	for _, lock := range b.Plan.Algorithms {
		k := curve{name: lock, group: b.Plan.Groups[lock]}
		if c := b.Find(cost.Contended(lock, b.Main())); c != nil && len(c.Latency) > 1 {
			for _, q := range c.Latency {
				k.points = append(k.points, plotter.XY{X: max(ms(q.At), leastMS), Y: q.Q})
			}
		}
		curves = append(curves, k)
	}
	return curves
}

// byKey are throughputs by something of a cell's key, in the column that has the curves.
func byKey(b *cost.Bench, x func(cost.Key) (int, bool)) (curves []curve) {
	for _, lock := range b.Plan.Algorithms {
		k := curve{name: lock, group: b.Plan.Groups[lock]}
		for _, c := range b.Cells {
			at, ok := x(c.Key)
			f := c.Figures[cost.Grants]
			if ok && at > 0 && c.Algorithm == lock && c.Servers == b.Main() && c.Loop == cost.Closed && f != nil && f.Median > 0 {
				k.points = append(k.points, plotter.XY{X: float64(at), Y: f.Median})
			}
		}
		slices.SortFunc(k.points, func(a, b plotter.XY) int { return int(a.X - b.X) })
		if len(k.points) < 3 {
			k.points = nil // that is no curve
		}
		curves = append(curves, k)
	}
	return curves
}
