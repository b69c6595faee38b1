package reports

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
)

// noLock is the control, of which nobody waits for anything.
const noLock = "none"

// outageFigure draws, for each algorithm, how long nobody could get the lock under each
// fault, and names the fault under which that was longest. It reports false where there are
// not two cells to compare.
func outageFigure(g grid) (figure, bool) {
	rows := slices.DeleteFunc(slices.Clone(g.Rows), func(row string) bool { return row == noLock })
	worst := make([]*checker.Cell, len(rows))
	var most *checker.Cell
	x, n := reach{math.Inf(1), 0}, 0
	for r, row := range rows {
		for _, col := range g.Cols {
			c := g.At(row, col)
			if !hasOutage(c) {
				continue
			}
			n++
			x.lo, x.hi = min(x.lo, outageMS(c)), max(x.hi, outageMS(c))
			if worst[r] == nil || c.OutageMS > worst[r].OutageMS {
				worst[r] = c
			}
		}
		if most == nil || worst[r] != nil && worst[r].OutageMS > most.OutageMS {
			most = worst[r]
		}
	}
	if n < 2 {
		return figure{}, false
	}
	x = reach{x.lo / 1.5, x.hi * 1.5}.wide()
	p := newRows(rows)
	p.X.Label.Text = "outage"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{timeMark}
	var l legend
	kinds := outageKinds(g)
	for i, k := range kinds {
		points := plotter.XYs{}
		for r, row := range rows {
			for _, col := range k.Names {
				if c := g.At(row, col); hasOutage(c) {
					points = append(points, plotter.XY{X: outageMS(c), Y: rowOf(r, len(rows), i, len(kinds))})
				}
			}
		}
		if len(points) == 0 {
			continue
		}
		dot := &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: palette[i%len(palette)], Radius: vg.Points(2.8), Shape: shapes[i%len(shapes)]}}
		p.Add(dot)
		l.add(k.Title, dot)
	}
	p.Add(faultNames(worst, x.hi))
	p.X.Min, p.X.Max = x.lo, x.hi
	return figure{
		plotView: plotView{Title: "The longest outage under each fault", File: "outage", Wide: true,
			Caption: fmt.Sprintf("Of each cell the longest of its runs; a lock that stayed stuck counts to the end of the run. On the right the fault under which it was longest. Most of all: %s (%s under %s).",
				span(most.OutageMS), most.Algorithm, most.Fault),
			Drawn: fmt.Sprintf("A row for each of %s, and in it a dot for each fault. From left to right the longest time that nobody could get the lock, from %s to %s, on a logarithmic axis",
				english.Count(len(rows), "lock"), span(x.lo), span(x.hi))},
		plot: p, legend: l, height: vg.Length(len(rows))*rowHeight + rowAxis,
	}, true
}

// faultNames stand at the right end of the rows.
func faultNames(worst []*checker.Cell, x float64) *plotter.Labels {
	l := &plotter.Labels{Offset: vg.Point{X: 6, Y: 3}}
	for r, c := range worst {
		if c != nil {
			l.XYs = append(l.XYs, plotter.XY{X: x, Y: rowOf(r, len(worst), 0, 1)})
			l.Labels = append(l.Labels, c.Fault)
		}
	}
	style := letters
	style.YAlign = draw.YCenter
	l.TextStyle = slices.Repeat([]draw.TextStyle{style}, len(l.Labels))
	return l
}

// outageKinds are what has a colour: the faults, or where they are too many to tell apart,
// the kinds of them.
func outageKinds(g grid) (kinds []group) {
	if len(g.Cols) > len(palette) {
		kinds = slices.Clone(g.ColGroups)
		for i, k := range kinds {
			if k.Title == "" {
				kinds[i].Title = "no fault"
			}
		}
		return kinds
	}
	for _, col := range g.Cols {
		kinds = append(kinds, group{col, []string{col}})
	}
	return kinds
}

func hasOutage(c *checker.Cell) bool {
	return c != nil && c.OutageMS >= 0 && c.Outcome != lb.NotAvailable && c.Outcome != lb.Inconclusive
}

// outageMS is where it stands on the axis.
func outageMS(c *checker.Cell) float64 { return max(c.OutageMS, leastMS) }
