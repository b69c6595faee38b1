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

// sizes are those of the matrix as a picture, in points.
type sizes struct {
	names                    vg.Length // for the names of the locks
	cell, row, gap           vg.Length
	letters, outcome, how    vg.Length // of names, and of the two lines in a cell
	aboveMiddle, belowMiddle vg.Length // where these lines stand
	wrapped                  bool      // heads are written across, in several lines
}

const widestNames = 260

// sizesFor draws a matrix of a few cells with large letters, so that it can be read on a phone,
// where a picture is shrunk to the width of the screen.
func sizesFor(g grid) sizes {
	s := sizes{names: 150, cell: 50, row: 22, gap: 2, letters: 9, outcome: 7.5, how: 6.5, aboveMiddle: 4, belowMiddle: -4.5}
	if len(g.Cols) <= 8 && len(g.Rows) <= 12 {
		s = sizes{cell: 106, row: 58, gap: 5, letters: 24, outcome: 22, how: 19, aboveMiddle: 11, belowMiddle: -13, wrapped: true}
		for _, c := range g.Cols {
			for _, line := range pieces(c) {
				s.wrapped = s.wrapped && small(s.outcome).Width(line) <= s.cell-s.gap
			}
		}
		for _, row := range g.Rows {
			s.names = max(s.names, small(s.letters).Width(row)+16)
		}
		return s
	}
	for _, row := range g.Rows {
		if len(g.locks) < len(g.Rows) { // names that tell of servers are longer
			s.names = max(s.names, small(s.letters).Width(row)+10)
		}
	}
	s.names = min(s.names, widestNames)
	return s
}

// pieces breaks the name of a fault behind each of its signs.
func pieces(fault string) (lines []string) {
	for fault != "" {
		end := strings.IndexAny(fault, "-@+:/") + 1
		if end == 0 {
			end = len(fault)
		}
		lines, fault = append(lines, fault[:end]), fault[end:]
	}
	return lines
}

// heads is how high the names of the faults stand.
func (s sizes) heads(g grid) (height vg.Length) {
	for _, c := range g.Cols {
		if s.wrapped {
			height = max(height, vg.Length(len(pieces(c)))*s.outcome*1.15)
		} else {
			height = max(height, small(s.letters).Width(c))
		}
	}
	return height + 5 + s.letters
}

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
		return fmt.Errorf("plots: %w", err)
	}
	size := sizesFor(g)
	width := size.names + size.cell*vg.Length(len(g.Cols)) + size.gap
	height := size.heads(g) + size.row*vg.Length(len(g.Rows))
	for _, format := range []string{"png", "svg"} {
		c, err := draw.NewFormattedCanvas(width, height, format)
		if err != nil {
			return fmt.Errorf("plot matrix: %w", err)
		}
		drawMatrix(draw.New(c), g, size)
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return fmt.Errorf("plot matrix: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "matrix."+format), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("plot matrix: %w", err)
		}
	}
	return nil
}

func drawMatrix(c draw.Canvas, g grid, size sizes) {
	ink := color.RGBA{0x1c, 0x20, 0x2b, 0xff}
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	bottom := func(row int) vg.Length { return size.row * vg.Length(len(g.Rows)-1-row) }
	left := func(col int) vg.Length { return size.names + size.cell*vg.Length(col) }
	for j, name := range g.Cols {
		at := vg.Point{X: left(j) + size.cell/2, Y: size.row*vg.Length(len(g.Rows)) + 5}
		if size.wrapped {
			s := small(size.outcome)
			s.Color, s.XAlign, s.YAlign = ink, align.XCenter, align.YBottom
			at.X -= size.gap / 2
			lines := pieces(name)
			for i, line := range lines {
				c.FillText(s, at.Add(vg.Point{Y: size.outcome * 1.15 * vg.Length(len(lines)-1-i)}), line)
			}
			continue
		}
		s := small(size.letters)
		s.Color, s.Rotation, s.XAlign, s.YAlign = ink, math.Pi/2, align.XLeft, align.YCenter
		c.FillText(s, at, name)
	}
	for i, row := range g.Rows {
		s := small(size.letters)
		s.Color, s.XAlign, s.YAlign = ink, align.XRight, align.YCenter
		c.FillText(s, vg.Point{X: size.names - 6, Y: bottom(i) + size.row/2}, fitting(s, row, size.names-10))
		for j, col := range g.Cols {
			if cell := g.At(row, col); cell != nil {
				size.drawCell(c, cell, left(j), bottom(i))
			}
		}
	}
}

func (size sizes) drawCell(c draw.Canvas, cell *checker.Cell, x, y vg.Length) {
	p := paintOf(cell)
	box := vg.Rectangle{Min: vg.Point{X: x, Y: y + size.gap}, Max: vg.Point{X: x + size.cell - size.gap, Y: y + size.row}}
	c.SetColor(p.fill)
	c.Fill(box.Path())
	if p == outlived {
		c.SetColor(p.ink)
		c.SetLineWidth(.8)
		c.Stroke(box.Path())
	}
	s := small(size.outcome)
	s.Color, s.XAlign, s.YAlign = p.ink, align.XCenter, align.YCenter
	middle := vg.Point{X: x + (size.cell-size.gap)/2, Y: y + (size.row+size.gap)/2}
	how := below(cell)
	if how == "" {
		c.FillText(s, middle, short(cell))
		return
	}
	c.FillText(s, middle.Add(vg.Point{Y: size.aboveMiddle}), short(cell))
	s.Font.Size = size.how
	c.FillText(s, middle.Add(vg.Point{Y: size.belowMiddle}), how)
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
