package reports

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
)

// dots is a plot with a row for each lock, and in it for each series a dot with its interval.
type dots struct {
	plotView             // the caption goes on with what was least and most
	axis     string      // what it shows
	ticks    plot.Ticker // a [logTicks] for a logarithmic axis, otherwise it is from 0 to 1
	show     func(*cost.Figure) string
	key      func(lock string, s cost.Servers) cost.Key
	value    cost.Measure
	mark     cost.Measure // beside the dot, "" for none
	beside   string       // what the mark is
	series   []series
}

// series is a column of a benchmark.
type series struct {
	name    string
	of      *cost.Bench
	servers cost.Servers
}

// rowHeight is that of a lock's row in points, and rowAxis what the axis below them takes.
const (
	rowHeight = 16
	rowAxis   = 40
)

// figure draws those of the locks that have a value; false if there is none.
func (d dots) figure(locks []string) (figure, bool) {
	x, rows := d.reach(locks)
	if len(rows) == 0 {
		return figure{}, false
	}
	p := newRows(rows)
	p.X.Label.Text, p.X.Tick.Marker = d.axis, d.ticks
	if d.log() {
		p.X.Scale = plot.LogScale{}
	}
	var l legend
	for i, s := range d.series {
		var points, marks plotter.XYs
		for r, lock := range rows {
			y := rowOf(r, len(rows), i, len(d.series))
			if f := d.find(s, lock, d.mark); f != nil {
				marks = append(marks, plotter.XY{X: f.Median, Y: y})
			}
			if f := d.find(s, lock, d.value); f != nil {
				points = append(points, plotter.XY{X: f.Median, Y: y})
				p.Add(whisker(max(f.Low, x.lo), f.High, y, palette[i%len(palette)]))
			}
		}
		if len(points) == 0 {
			continue
		}
		look := draw.GlyphStyle{Color: palette[i%len(palette)], Radius: vg.Points(2.8), Shape: shapes[i%len(shapes)]}
		dot := &plotter.Scatter{XYs: points, GlyphStyle: look}
		look.Shape, look.Radius = barGlyph{}, vg.Points(3.5)
		p.Add(dot, &plotter.Scatter{XYs: marks, GlyphStyle: look})
		l.add(s.name, dot)
	}
	if d.beside != "" {
		l.add(d.beside, &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: axisColour, Radius: vg.Points(3.5), Shape: barGlyph{}}})
	}
	p.X.Min, p.X.Max = x.lo, x.hi
	d.Caption += d.ends(rows) + "." + d.none(locks, rows)
	d.Drawn = fmt.Sprintf("A row for each of %s. From left to right the %s, from %s to %s", english.Count(len(rows), "lock"), d.axis,
		d.show(&cost.Figure{Summary: cost.Summary{Median: x.lo}}), d.show(&cost.Figure{Summary: cost.Summary{Median: x.hi}}))
	if d.log() {
		d.Drawn += ", on a logarithmic axis"
	}
	return figure{d.plotView, p, l, vg.Length(len(rows))*rowHeight + rowAxis}, true
}

// find is a figure of a lock, nil where there is none, or no place for it: a logarithmic
// axis has no 0.
func (d dots) find(s series, lock string, m cost.Measure) *cost.Figure {
	f := s.of.Figure(d.key(lock, s.servers), m)
	if f == nil || len(f.Values) == 0 || d.log() && f.Median <= 0 {
		return nil
	}
	return f
}

func (d dots) log() bool {
	_, log := d.ticks.(logTicks)
	return log
}

// reach is what the axis must show, and which locks have a row.
func (d dots) reach(locks []string) (x reach, rows []string) {
	x = reach{math.Inf(1), 0}
	add := func(low, high float64) {
		if low > 0 {
			x.lo = min(x.lo, low)
		}
		x.hi = max(x.hi, high)
	}
	for _, lock := range locks {
		there := false
		for _, s := range d.series {
			if f := d.find(s, lock, d.value); f != nil {
				there = true
				add(f.Low, f.High)
				add(f.Median, f.Median)
			}
			if f := d.find(s, lock, d.mark); f != nil {
				add(f.Median, f.Median)
			}
		}
		if there {
			rows = append(rows, lock)
		}
	}
	if !d.log() {
		return reach{0, max(1, x.hi)}, rows
	}
	return reach{x.lo / 1.2, x.hi * 1.2}.wide(), rows
}

// ends says in words where the first series that has dots begins and ends.
func (d dots) ends(rows []string) string {
	for _, s := range d.series {
		var list []end
		for _, lock := range rows {
			if f := d.find(s, lock, d.value); f != nil {
				list = append(list, end{lock, f.Median, d.show(f)})
			}
		}
		if len(list) > 0 {
			return "; " + s.name + fromTo(list)
		}
	}
	return ""
}

// none names the locks whose value is 0, where that has no place.
func (d dots) none(locks, rows []string) string {
	var list []string
	for _, lock := range locks {
		if !slices.Contains(rows, lock) && slices.ContainsFunc(d.series, func(s series) bool { return s.of.Figure(d.key(lock, s.servers), d.value) != nil }) {
			list = append(list, lock)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " None at all: " + strings.Join(list, ", ") + "."
}

// end is a value with its name and how it is shown.
type end struct {
	name  string
	value float64
	shown string
}

// fromTo is the least and the greatest value, and whose they are.
func fromTo(list []end) string {
	if len(list) == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b end) int { return cmp.Compare(a.value, b.value) })
	whose := func(e end) string {
		var names []string
		for _, other := range list {
			if other.shown == e.shown {
				names = append(names, other.name)
			}
		}
		if len(names) > 2 {
			return fmt.Sprintf("%s (%d locks)", e.shown, len(names))
		}
		return fmt.Sprintf("%s (%s)", e.shown, strings.Join(names, " and "))
	}
	low, high := list[0], list[len(list)-1]
	if low.shown == high.shown {
		return ": " + whose(low)
	}
	return ": from " + whose(low) + " to " + whose(high)
}

// newRows is a plot with a named row for each, from the top.
func newRows(names []string) *plot.Plot {
	p := newPlot()
	p.Add(verticals(), rails())
	p.NominalY(reversed(names)...)
	p.Y.Min, p.Y.Max = -.6, float64(len(names))-.4
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width, p.Y.Tick.Length = 0, 0, 0
	return p
}

// rowOf is the height of a row, and in it of the part of several that one series has, so
// that equal values can all be seen.
func rowOf(row, rows, part, parts int) float64 {
	y := float64(rows - 1 - row)
	if parts > 1 {
		y += .5 * (.5 - float64(part)/float64(parts-1))
	}
	return y
}

// whisker is a bar from low to high.
func whisker(low, high, y float64, c color.Color) *plotter.Line {
	l := &plotter.Line{XYs: plotter.XYs{{X: low, Y: y}, {X: high, Y: y}}}
	l.Color, l.Width = c, vg.Points(1.2)
	return l
}

// rails are faint lines that lead the eye along a row.
func rails() *plotter.Grid {
	return &plotter.Grid{Horizontal: faint()}
}

func verticals() *plotter.Grid {
	return &plotter.Grid{Vertical: faint()}
}

func faint() draw.LineStyle { return draw.LineStyle{Color: faintColour, Width: vg.Points(.5)} }

func reversed(names []string) []string {
	out := slices.Clone(names)
	slices.Reverse(out)
	return out
}
