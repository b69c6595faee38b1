package reports

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plotView is one figure of the page.
type plotView struct {
	Title, Caption, File, SVG string
}

// figure is a plot to be written as SVG and PNG.
type figure struct {
	plotView
	plot *plot.Plot
	w, h vg.Length
}

// palette tells eight lines apart also for readers who see colours differently
// (after Okabe and Ito, without its black and yellow), on white and on dark.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x56, 0xb4, 0xe9, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x8a, 0x6f, 0xd1, 0xff}, {0x80, 0x80, 0x80, 0xff},
}

var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}}

var gridGrey = color.Gray{Y: 0x88}

// addPlots writes the figures into dir and puts them on the page.
func (v *view) addPlots(dir string) error {
	v.Latency = latencyRows(v.latencies)
	figures := latencyFigures(v.latencies)
	if f, ok := outageFigure(v.Grid); ok {
		figures = append(figures, f)
	}
	if len(figures) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("reports: plots: %w", err)
	}
	for _, f := range figures {
		svg, err := f.write(dir)
		if err != nil {
			return fmt.Errorf("reports: plot %s: %w", f.File, err)
		}
		f.SVG = inline(svg)
		v.Plots = append(v.Plots, f.plotView)
	}
	return nil
}

// write saves both formats and returns the SVG.
func (f figure) write(dir string) ([]byte, error) {
	var svg []byte
	for _, format := range []string{"png", "svg"} {
		if format == "png" {
			f.plot.BackgroundColor = color.White
		} else {
			f.plot.BackgroundColor = color.Transparent
		}
		c, err := f.plot.WriterTo(f.w, f.h, format)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, f.File+"."+format), b.Bytes(), 0o644); err != nil {
			return nil, err
		}
		svg = b.Bytes()
	}
	return svg, nil
}

// svgHead matches all that an SVG file needs and an inlined one must not have.
var svgHead = regexp.MustCompile(`(?s)^.*?<svg ([^>]*?)\s+xmlns=[^>]*>`)

// inline makes an SVG file part of the page: without its prologue, and black
// replaced by the page's own colour of text, so that it can be read on dark.
func inline(svg []byte) string {
	s := svgHead.ReplaceAllString(string(svg), `<svg $1 role="img">`)
	s = strings.NewReplacer("fill:#000000", "fill:currentColor", "stroke:#000000", "stroke:currentColor").Replace(s)
	return strings.TrimSpace(s)
}

// newPlot has the house style: no frame, a light grid, small sans letters.
func newPlot() *plot.Plot {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = font.From(sans, 10)
		a.Tick.Label.Font = font.From(sans, 9)
		a.LineStyle.Color = gridGrey
		a.Tick.LineStyle.Color = gridGrey
	}
	p.Legend.TextStyle.Font = font.From(sans, 9)
	p.Legend.Padding = vg.Points(3)
	p.Legend.ThumbnailWidth = vg.Points(18)
	return p
}
