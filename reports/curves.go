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
)

// curve is a line of a plot.
type curve struct {
	name   string
	points plotter.XYs
}

// plotLines bounds the lines of one plot that a reader can tell apart.
const plotLines = 8

// curvePlots are plots of the same kind, one for each family of locks ("Redis",
// "ZooKeeper"), all on the same axes, so that the lines stay few and the plots comparable.
type curvePlots struct {
	title, file, caption string
	style                func(*plot.Plot)
	dots                 bool // at each point
}

func (k curvePlots) figures(curves []curve) []figure {
	curves = slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return len(c.points) == 0 })
	x, y := rangeOf(curves)
	var out []figure
	for _, f := range families(curves) {
		p, legend := newPlot(), newLegend()
		p.Add(plotter.NewGrid())
		k.style(p)
		for i, c := range f.curves {
			line, dots, err := plotter.NewLinePoints(c.points)
			if err != nil {
				continue // only for NaN, of which there are none
			}
			line.Color = palette[i%len(palette)]
			line.Dashes = dashes[i/len(palette)%len(dashes)]
			line.Width = vg.Points(1.7)
			p.Add(line)
			if k.dots {
				dots.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}
				p.Add(dots)
			}
			legend.Add(c.name, line)
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x.lo, x.hi, y.lo, y.hi
		out = append(out, figure{
			plotView{Title: k.title + ": " + f.name + ".", File: k.file + "-" + f.file(), Caption: k.caption},
			p, legend, 3.2 * vg.Inch,
		})
	}
	return out
}

type reach struct{ lo, hi float64 }

// rangeOf is what the axes must show; never nothing at all.
func rangeOf(curves []curve) (x, y reach) {
	x, y = reach{math.Inf(1), math.Inf(-1)}, reach{math.Inf(1), math.Inf(-1)}
	for _, c := range curves {
		for _, p := range c.points {
			x.lo, x.hi = min(x.lo, p.X), max(x.hi, p.X)
			y.lo, y.hi = min(y.lo, p.Y), max(y.hi, p.Y)
		}
	}
	if x.lo >= x.hi {
		x.hi = 2*x.lo + 1
	}
	if y.lo >= y.hi {
		y.hi = 2*y.lo + 1
	}
	return x, y
}

type family struct {
	name   string
	curves []curve
}

// families groups by kin, as the matrix does. Locks alone in their family share
// one named "Others"; more than fit a plot are spread evenly over several.
func families(curves []curve) []family {
	byName := make(map[string][]curve)
	var names []string
	for _, s := range curves {
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
