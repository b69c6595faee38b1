//go:build linux

package main

import (
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// draw puts a point for each block, those of a place in a band, in the order in which they were measured.
func draw(places []*place, file string) error {
	p := plot.New()
	p.Title.Text = "A PING to Redis, by where its two ends run (a point: median of 1,000)"
	p.Title.TextStyle.Font.Size = vg.Points(11)
	p.X.Label.Text = "µs"
	p.X.Min = 0
	p.BackgroundColor = color.White
	p.Add(plotter.NewGrid())
	var names []string
	for i := len(places) - 1; i >= 0; i-- { // the first at the top
		at := places[i]
		points := make(plotter.XYs, len(at.blocks))
		for n, took := range at.blocks {
			points[n] = plotter.XY{X: took, Y: float64(len(names)) + 0.6*(float64(n)/float64(len(at.blocks))-0.5)}
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.GlyphStyle = vgdraw.GlyphStyle{Color: color.NRGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xb0}, Radius: vg.Points(1.8), Shape: vgdraw.CircleGlyph{}}
		p.Add(s)
		names = append(names, at.name)
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.5, float64(len(names))-0.5
	w, err := p.WriterTo(20*vg.Centimeter, 7*vg.Centimeter, "svg")
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := w.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}
