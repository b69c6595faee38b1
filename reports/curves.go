package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lockbench/lockbench/internal/english"
)

// curve is a line of a plot.
type curve struct {
	name   string
	group  string
	points plotter.XYs
}

// plotLines bounds the lines of one plot that a reader can tell apart.
const plotLines = 8

// curvePlots are plots of the same kind, one for each family of locks ("Redis",
// "ZooKeeper"), all on the same axes, so that the lines stay few and the plots comparable.
type curvePlots struct {
	title, file string
	style       func(*plot.Plot)
	dots        bool // at each point, and a mark below it
	// says is what the caption compares of the curves, and value is that of one of them, if it
	// has it; both may depend on how far the axis goes.
	says  func(far float64) string
	value func(c curve, far float64) (v float64, ok bool)
	show  func(float64) string
	drawn string // the axes in words
}

// figures draws the curves. One without points is not drawn, but keeps its place: the colour
// of a lock is then the same in plots of every kind.
func (k curvePlots) figures(curves []curve) (out []figure) {
	x, y := rangeOf(curves)
	for _, f := range families(curves) {
		p, l := newPlot(), legend{}
		p.Add(&plotter.Grid{Vertical: faint(), Horizontal: faint()})
		k.style(p)
		if k.dots {
			p.X.Tick.Marker = valueTicks(curves)
		}
		var ends []end
		for i, c := range f.curves {
			if len(c.points) == 0 {
				continue
			}
			l.add(c.name, k.draw(p, c, i)...)
			if v, ok := k.value(c, x.hi); ok {
				ends = append(ends, end{c.name, v, k.show(v)})
			}
		}
		if len(l) == 0 {
			continue
		}
		fit(&p.X, x)
		fit(&p.Y, y)
		out = append(out, figure{
			plotView: plotView{Title: k.title + ": " + f.name, File: k.file + "-" + f.file(), Caption: k.says(x.hi) + fromTo(ends) + ".",
				Drawn: k.drawn + ": " + english.Count(len(l), "line")},
			plot: p, legend: l, height: 215,
		})
	}
	return out
}

// draw adds the curve in the place i of its family, and returns how it looks.
func (k curvePlots) draw(p *plot.Plot, c curve, i int) []plot.Thumbnailer {
	look := draw.LineStyle{Color: palette[i%len(palette)], Width: vg.Points(1.6), Dashes: dashes[2*i/len(palette)%len(dashes)]}
	line := &plotter.Line{XYs: c.points, LineStyle: look}
	p.Add(line)
	if !k.dots {
		return []plot.Thumbnailer{line}
	}
	dots := &plotter.Scatter{XYs: c.points, GlyphStyle: draw.GlyphStyle{Color: look.Color, Radius: vg.Points(2.6), Shape: shapes[i%len(shapes)]}}
	p.Add(dots)
	return []plot.Thumbnailer{line, dots}
}

// rangeOf is what the axes must show.
func rangeOf(curves []curve) (x, y reach) {
	x, y = reach{math.Inf(1), math.Inf(-1)}, reach{math.Inf(1), math.Inf(-1)}
	for _, c := range curves {
		for _, p := range c.points {
			x.lo, x.hi = min(x.lo, p.X), max(x.hi, p.X)
			y.lo, y.hi = min(y.lo, p.Y), max(y.hi, p.Y)
		}
	}
	return x, y
}

func fit(a *plot.Axis, r reach) {
	if _, log := a.Scale.(plot.LogScale); log {
		r = r.wide()
	}
	a.Min, a.Max = r.lo, r.hi
}

type family struct {
	name   string
	curves []curve
}

// families groups curves as the matrix groups rows. Locks alone in their family share
// one named "Others"; more than fit a plot are spread evenly over several.
func families(curves []curve) []family {
	byName := make(map[string][]curve)
	titles := map[string]string{}
	var names []string
	for _, s := range curves {
		names = append(names, s.name)
		byName[s.name] = append(byName[s.name], s)
		titles[s.name] = s.group
	}
	groups, alone := byTitle(names, titles), group{Title: others}
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
				f.curves = append(f.curves, byName[n]...)
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
