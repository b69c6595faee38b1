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
	plot   *plot.Plot
	legend plot.Legend
	height vg.Length
}

// The width of a figure, and what of it the legend takes, beside the data so
// that it covers none.
const (
	figureWidth = 9.2 * vg.Inch
	legendWidth = 2.5 * vg.Inch
)

// palette tells eight lines apart also for readers who see colours differently
// (after Okabe and Ito, without its black and yellow), on white and on dark.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x56, 0xb4, 0xe9, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x8a, 0x6f, 0xd1, 0xff}, {0x80, 0x80, 0x80, 0xff},
}

var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}}

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

var gridGrey = color.Gray{Y: 0x88}

// writePlots writes the figures into dir, and returns them for a page.
func writePlots(dir string, figures []figure) (views []plotView, err error) {
	if len(figures) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("reports: plots: %w", err)
	}
	for _, f := range figures {
		svg, err := f.write(dir)
		if err != nil {
			return nil, fmt.Errorf("reports: plot %s: %w", f.File, err)
		}
		f.SVG = inline(svg)
		views = append(views, f.plotView)
	}
	return views, nil
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
		c, err := draw.NewFormattedCanvas(figureWidth, f.height, format)
		if err != nil {
			return nil, err
		}
		f.draw(draw.New(c))
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

func (f figure) draw(c draw.Canvas) {
	if f.plot.BackgroundColor != color.Transparent {
		c.SetColor(f.plot.BackgroundColor)
		c.Fill(c.Rectangle.Path())
	}
	f.plot.Draw(draw.Crop(c, vg.Points(5), -legendWidth, 0, 0))
	f.legend.Draw(draw.Crop(c, figureWidth-legendWidth+vg.Points(12), 0, 0, -vg.Points(4)))
}

// newLegend lists the lines from the top, at the left of its place.
func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.TextStyle.Font = font.From(sans, 9)
	l.Padding, l.ThumbnailWidth = vg.Points(3), vg.Points(18)
	l.Top, l.Left = true, true
	return l
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
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = font.From(sans, 10)
		a.Tick.Label.Font = font.From(sans, 9)
		a.LineStyle.Color = gridGrey
		a.Tick.LineStyle.Color = gridGrey
	}
	return p
}
