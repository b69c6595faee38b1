package reports

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	align "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// The sizes of the matrix as a picture, in points.
const (
	matrixNames = 150 // for the names of the locks, which may be wider where they name servers
	widestNames = 260
	matrixCell  = 50
	matrixRow   = 22
	matrixGap   = 2
)

// paint is how a cell looks: as on the page, in its light colours.
type paint struct{ fill, ink color.RGBA }

var paints = map[lb.Outcome]paint{
	lb.Safe:         {color.RGBA{0xd3, 0xf0, 0xda, 0xff}, color.RGBA{0x0b, 0x4a, 0x20, 0xff}},
	lb.Check:        {color.RGBA{0xfd, 0xee, 0xb0, 0xff}, color.RGBA{0x5a, 0x43, 0x00, 0xff}},
	lb.Fence:        {color.RGBA{0xff, 0xd5, 0xa8, 0xff}, color.RGBA{0x6b, 0x2f, 0x00, 0xff}},
	lb.Stuck:        {color.RGBA{0x6a, 0x3f, 0xb8, 0xff}, color.RGBA{0xff, 0xff, 0xff, 0xff}},
	lb.Broken:       {color.RGBA{0xc3, 0x22, 0x1f, 0xff}, color.RGBA{0xff, 0xff, 0xff, 0xff}},
	lb.Inconclusive: {color.RGBA{0xe4, 0xe6, 0xec, 0xff}, color.RGBA{0x3d, 0x44, 0x55, 0xff}},
	lb.NotAvailable: {color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{0x6b, 0x72, 0x80, 0xff}},
}

// outlived is BROKEN of a lock that kept its promise to a holder who went on too long.
var outlived = paint{color.RGBA{0xfd, 0xe8, 0xe7, 0xff}, color.RGBA{0xa8, 0x1b, 0x18, 0xff}}

func paintOf(c *checker.Cell) paint {
	if m := c.Mechanism; c.Outcome == lb.Broken && (m == lb.Overstay || m == lb.EarlyRelease) {
		return outlived
	}
	return paints[c.Outcome]
}

// drawMatrixInto draws the matrix into dir, for slides and for README files: matrix.svg and
// matrix.png.
func drawMatrixInto(dir string, g grid) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("reports: plots: %w", err)
	}
	heads := 0.0
	for _, c := range g.Cols {
		heads = max(heads, float64(small(9).Width(c)))
	}
	width := namesWidth(g) + vg.Length(matrixCell*len(g.Cols)+matrixGap)
	height := vg.Length(heads) + vg.Length(matrixRow*len(g.Rows)) + 14
	for _, format := range []string{"png", "svg"} {
		c, err := draw.NewFormattedCanvas(width, height, format)
		if err != nil {
			return fmt.Errorf("reports: plot matrix: %w", err)
		}
		drawMatrix(draw.New(c), g)
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return fmt.Errorf("reports: plot matrix: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "matrix."+format), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("reports: plot matrix: %w", err)
		}
	}
	return nil
}

func namesWidth(g grid) vg.Length {
	width := vg.Length(matrixNames)
	for _, row := range g.Rows {
		if len(g.locks) < len(g.Rows) {
			width = max(width, small(9).Width(row)+10)
		}
	}
	return min(width, widestNames)
}

func drawMatrix(c draw.Canvas, g grid) {
	names := namesWidth(g)
	ink := color.RGBA{0x1c, 0x20, 0x2b, 0xff}
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	bottom := func(row int) vg.Length { return vg.Length(matrixRow * (len(g.Rows) - 1 - row)) }
	left := func(col int) vg.Length { return names + vg.Length(matrixCell*col) }
	for j, name := range g.Cols {
		s := small(9)
		s.Color, s.Rotation, s.XAlign, s.YAlign = ink, math.Pi/2, align.XLeft, align.YCenter
		c.FillText(s, vg.Point{X: left(j) + matrixCell/2, Y: vg.Length(matrixRow*len(g.Rows)) + 5}, name)
	}
	for i, row := range g.Rows {
		s := small(9)
		s.Color, s.XAlign, s.YAlign = ink, align.XRight, align.YCenter
		c.FillText(s, vg.Point{X: names - 6, Y: bottom(i) + matrixRow/2}, fitting(s, row, names-10))
		for j, col := range g.Cols {
			if cell := g.At(row, col); cell != nil {
				drawCell(c, cell, left(j), bottom(i))
			}
		}
	}
}

func drawCell(c draw.Canvas, cell *checker.Cell, x, y vg.Length) {
	p := paintOf(cell)
	box := vg.Rectangle{Min: vg.Point{X: x, Y: y + matrixGap}, Max: vg.Point{X: x + matrixCell - matrixGap, Y: y + matrixRow}}
	c.SetColor(p.fill)
	c.Fill(box.Path())
	if p == outlived {
		c.SetColor(p.ink)
		c.SetLineWidth(.8)
		c.Stroke(box.Path())
	}
	s := small(7.5)
	s.Color, s.XAlign, s.YAlign = p.ink, align.XCenter, align.YCenter
	middle := vg.Point{X: x + (matrixCell-matrixGap)/2, Y: y + (matrixRow+matrixGap)/2}
	how := howShort(cell)
	if how == "" {
		c.FillText(s, middle, short(cell))
		return
	}
	c.FillText(s, middle.Add(vg.Point{Y: 4}), short(cell))
	s.Font.Size = 6.5
	c.FillText(s, middle.Add(vg.Point{Y: -4.5}), how)
}

func small(size vg.Length) draw.TextStyle {
	return draw.TextStyle{Font: font.From(sans, size), Handler: plot.DefaultTextHandler}
}

// fitting shortens a name to a width.
func fitting(s draw.TextStyle, name string, width vg.Length) string {
	for n := len(name); s.Width(name) > width && n > 4; n-- {
		name = strings.TrimSuffix(name, "…")
		name = name[:len(name)-1] + "…"
	}
	return name
}
