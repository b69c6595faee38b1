package reports

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// plotView is one figure of the page.
type plotView struct {
	Title   string // its name, that no other figure of the page has
	Caption string // what is to be seen
	Drawn   string // how it is drawn, for who can't see it
	File    string // in plots/, without its ending; its ids are made of it, too
	Wide    bool   // it scrolls where there is no room for it
	SVG     string
}

// plotGroup is figures of one kind, beside each other. Who wants to see them unfolds them,
// if they have a title.
type plotGroup struct {
	Title, Intro string
	Plots        []plotView
	figures      []figure
}

// figure is a plot to be written as SVG and PNG.
type figure struct {
	plotView
	plot   *plot.Plot
	legend legend
	height vg.Length // of the plot, without its legend
}

// The width of a figure in points. As many CSS pixels are the width of a phone, so that its
// letters can be read there; a wide one scrolls.
const (
	figureWidth = 360
	wideWidth   = 480
)

// palette tells eight lines apart, on white and on dark: the contrast with either is 3 to 1
// or more. Who sees colours differently has the dashes and the shapes besides.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x96, 0x6e, 0xff}, {0xc4, 0x69, 0x9e, 0xff},
	{0x0d, 0x93, 0xb8, 0xff}, {0x9a, 0x7b, 0x00, 0xff}, {0x8a, 0x6f, 0xd1, 0xff}, {0x80, 0x80, 0x80, 0xff},
}

var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}}

// letterSize is that of all letters, in points of the figure.
const letterSize = 10

var sans = font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, letterSize)

// letters measures them.
var letters = draw.TextStyle{Font: sans, Handler: plot.DefaultTextHandler}

// Axes and the lines behind the data are of the page's own colour, and let its background
// through.
var (
	axisColour  = color.NRGBA{A: 0x99}
	faintColour = color.NRGBA{A: 0x2c}
)

// writePlots writes the figures into dir, and returns them for a page.
func writePlots(dir string, figures []figure) (views []plotView, err error) {
	if len(figures) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("plots: %w", err)
	}
	for _, f := range figures {
		svg, err := f.write(dir)
		if err != nil {
			return nil, fmt.Errorf("plot %s: %w", f.File, err)
		}
		f.SVG = f.inline(svg)
		views = append(views, f.plotView)
	}
	return views, nil
}

// write saves both formats, on white, and returns the SVG.
func (f figure) write(dir string) (svg string, err error) {
	width, height := vg.Length(figureWidth), f.height+f.legend.height()
	if f.Wide {
		width = wideWidth
	}
	png := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(192))}
	for _, to := range []struct {
		ending string
		canvas vg.CanvasWriterTo
	}{{".png", png}, {".svg", vgsvg.New(width, height)}} {
		f.draw(draw.New(to.canvas))
		var b bytes.Buffer
		if _, err := to.canvas.WriteTo(&b); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, f.File+to.ending), b.Bytes(), 0o644); err != nil {
			return "", err
		}
		svg = b.String()
	}
	return svg, nil
}

func (f figure) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	f.plot.Draw(draw.Crop(c, 0, 0, vg.Points(3), -f.legend.height()))
	f.legend.draw(c)
}

var (
	// svgHead matches all that stands before the first element of an SVG file.
	svgHead = regexp.MustCompile(`(?s)^.*?<svg .*?(viewBox="[^"]*").*?>`)
	// svgBack matches the white behind a figure.
	svgBack = regexp.MustCompile(`<path [^>]*style="fill:#FFFFFF" />\n`)
	// svgText matches a text with its letters, which all are alike.
	svgText = regexp.MustCompile(`(<text [^>]*?)\s+style="font-family:[^>]*">(.*?)</text>`)
)

// inline makes an SVG file part of the page: with a name, without its background, and in
// the page's own colour of text what the file has in black. Its letters are those that a
// reader has, in the room that was measured for others.
func (f plotView) inline(svg string) string {
	head := svgHead.FindStringSubmatch(svg)
	id := "plot-" + f.File
	named := fmt.Sprintf(`<svg %s fill="currentColor" font-size="%d" role="img" aria-labelledby="%s-title %[3]s-desc"><title id="%[3]s-title">%s</title><desc id="%[3]s-desc">%s</desc>`,
		head[1], letterSize, id, html.EscapeString(f.Title), html.EscapeString(f.Drawn))
	svg = svgBack.ReplaceAllString(svg[len(head[0]):], "")
	svg = svgText.ReplaceAllStringFunc(svg, func(s string) string {
		m := svgText.FindStringSubmatch(s)
		width := letters.Width(html.UnescapeString(m[2]))
		return fmt.Sprintf(`%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`, m[1], width.Points(), m[2])
	})
	return named + strings.TrimSpace(strings.ReplaceAll(svg, "stroke:#000000", "stroke:currentColor"))
}

// newPlot has the house style: no frame, thin axes, small sans letters. Names of axes must be
// short: gonum thinks that on a logarithmic axis they stand near its end, and makes room.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans
		a.Label.Padding = vg.Points(3)
		a.Tick.Label.Font = sans
		a.Tick.Length = vg.Points(5)
		a.LineStyle.Color, a.Tick.LineStyle.Color = axisColour, axisColour
	}
	return p
}
