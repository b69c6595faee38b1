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

	lb "github.com/lockbench/lockbench"
)

// outageFigure draws, for each algorithm, how long nobody could get the lock
// under each fault. It reports false where no cell has an outage.
func outageFigure(g grid) (figure, bool) {
	p, legend := newPlot(), newLegend()
	p.X.Label.Text = "longest time that nobody could get the lock"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, durationTicks{}
	p.Add(verticals(), rails())
	lo, hi := math.Inf(1), 0.0
	for i, col := range g.Cols {
		points := outages(g, col, i)
		if len(points) == 0 {
			continue
		}
		for _, xy := range points {
			lo, hi = min(lo, xy.X), max(hi, xy.X)
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			continue // only for NaN, of which there are none
		}
		s.GlyphStyle = draw.GlyphStyle{
			Color: palette[i%len(palette)], Radius: vg.Points(3.4), Shape: shapes[i/len(palette)%len(shapes)],
		}
		p.Add(s)
		legend.Add(col, s)
	}
	if hi == 0 {
		return figure{}, false
	}
	p.X.Min, p.X.Max = lo/1.5, hi*1.5
	p.NominalY(reversed(g.Rows)...)
	p.Y.Min, p.Y.Max = -.6, float64(len(g.Rows))-.4
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	height := max(vg.Length(len(g.Rows))*20+60, vg.Length(len(g.Cols))*15+30)
	return figure{
		plotView{Title: "Outage.", File: "outage",
			Caption: "The longest of each cell’s runs; a lock that stayed stuck counts to the end of the run."},
		p, legend, height,
	}, true
}

// outages are the points of one fault, moved a little apart so that equal
// values of several faults can all be seen.
func outages(g grid, col string, i int) plotter.XYs {
	var out plotter.XYs
	for r, row := range g.Rows {
		c := g.At(row, col)
		if c == nil || c.OutageMS < 0 || c.Outcome == lb.NotAvailable || c.Outcome == lb.Inconclusive {
			continue
		}
		shift := 0.0
		if n := len(g.Cols); n > 1 {
			shift = .5 * (.5 - float64(i)/float64(n-1))
		}
		out = append(out, plotter.XY{X: max(c.OutageMS, leastMS), Y: float64(len(g.Rows)-1-r) + shift})
	}
	return out
}

func reversed(names []string) []string {
	out := slices.Clone(names)
	slices.Reverse(out)
	return out
}

// rails are faint lines that lead the eye along a row.
func rails() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal = faint()
	return g
}

func verticals() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical = faint()
	g.Horizontal.Color = nil
	return g
}

func faint() draw.LineStyle {
	return draw.LineStyle{Color: color.RGBA{0x88, 0x88, 0x88, 0xff}, Width: vg.Points(.3)}
}

// durationTicks marks the powers of ten of a logarithmic axis in milliseconds,
// each in the unit that suits it.
type durationTicks struct{}

func (durationTicks) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		base := math.Pow(10, e)
		for m := 1.0; m < 10; m++ {
			if v := m * base; v >= lo && v <= hi {
				label := ""
				if m == 1 {
					label = round(v)
				}
				out = append(out, plot.Tick{Value: v, Label: label})
			}
		}
	}
	return out
}

// round writes a power of ten of milliseconds without needless digits.
func round(ms float64) string {
	switch {
	case ms >= 1000:
		return strconv.FormatFloat(ms/1000, 'f', 0, 64) + " s"
	case ms >= 1:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	}
	return strconv.FormatFloat(ms*1000, 'f', 0, 64) + " µs"
}

// percentTicks marks a share from 0 to 1.
type percentTicks struct{}

func (percentTicks) Ticks(_, _ float64) []plot.Tick {
	var out []plot.Tick
	for _, v := range []float64{0, .25, .5, .75, .9, 1} {
		out = append(out, plot.Tick{Value: v, Label: strconv.FormatFloat(100*v, 'f', 0, 64) + "%"})
	}
	return out
}
