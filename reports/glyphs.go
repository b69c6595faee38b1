package reports

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shapes tell the dots of a plot apart besides their colours.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, diamondGlyph{}}

// diamondGlyph is a square on its corner.
type diamondGlyph struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamondGlyph) DrawGlyph(c *draw.Canvas, look draw.GlyphStyle, at vg.Point) {
	r := look.Radius * 1.2
	c.SetColor(look.Color)
	c.Fill(polygon(vg.Point{X: at.X - r, Y: at.Y}, vg.Point{X: at.X, Y: at.Y + r}, vg.Point{X: at.X + r, Y: at.Y}, vg.Point{X: at.X, Y: at.Y - r}))
}

// barGlyph is an upright bar.
type barGlyph struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (barGlyph) DrawGlyph(c *draw.Canvas, look draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: look.Color, Width: vg.Points(1.4)})
	c.Stroke(polygon(vg.Point{X: at.X, Y: at.Y - look.Radius}, vg.Point{X: at.X, Y: at.Y + look.Radius}))
}

func polygon(corners ...vg.Point) (p vg.Path) {
	p.Move(corners[0])
	for _, c := range corners[1:] {
		p.Line(c)
	}
	p.Close()
	return p
}
