package reports

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend stands above a plot, so that it covers none of the data, in as many columns as
// there is room for.
type legend []legendEntry

type legendEntry struct {
	name  string
	marks []plot.Thumbnailer
}

const (
	legendLine = 14 // points from one line to the next
	legendMark = 18 // the width of a mark
	legendGap  = 14 // at least, from one column to the next
)

func (l *legend) add(name string, marks ...plot.Thumbnailer) {
	*l = append(*l, legendEntry{name, marks})
}

func (l legend) text() plot.Legend {
	t := plot.NewLegend()
	t.TextStyle.Font = sans
	t.ThumbnailWidth = legendMark
	t.Top, t.Left = true, true
	return t
}

func (l legend) columns() int {
	widest := vg.Length(0)
	for _, e := range l {
		widest = max(widest, legendMark+legendGap+letters.Width(e.name))
	}
	return max(1, int((figureWidth+legendGap)/widest))
}

func (l legend) height() vg.Length {
	if len(l) == 0 {
		return 0
	}
	n := l.columns()
	return vg.Length((len(l)+n-1)/n)*legendLine + 8
}

// draw writes it at the top of c, line by line.
func (l legend) draw(c draw.Canvas) {
	n := l.columns()
	column := vg.Length((figureWidth + legendGap) / n)
	for i, e := range l {
		one := l.text()
		one.Add(e.name, e.marks...)
		one.Draw(draw.Crop(c, vg.Length(i%n)*column, 0, 0, -vg.Length(i/n)*legendLine))
	}
}
