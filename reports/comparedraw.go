package reports

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/gate"
)

// forest is a measure of all locks, before and now, on one axis: a row for each, from what
// it was (1×) to what it is, with its interval.
type forest struct {
	Title, Way string
	Yardstick  bool // some row is held against one
	Rows       []forestRow
	Axis       template.HTML
}

type forestRow struct {
	gate.Figure
	Drawn template.HTML
}

// forests are those of the measures that say the most, on the same axis.
func (c Compared) forests() (list []forest) {
	all := []struct {
		title, less, more string
		key               func(string, cost.Servers) cost.Key
		measure           cost.Measure
	}{
		{"Acquire and release, when nobody else wants it", "quicker", "slower", cost.Uncontended, cost.Cycle},
		{"Hand-offs per second, when 16 clients want it", "fewer", "more", cost.Contended, cost.HandOffs},
		{"99% of the hand-offs take at most", "quicker", "slower", cost.Contended, cost.P99},
	}
	scale := forestScale{least: c.Performance.Least, most: math.Log(1.5)}
	for _, a := range all {
		f := forest{Title: a.title}
		for _, fig := range c.Performance.Figures {
			d := fig.Counts().Difference
			if d == nil || fig.Measure != a.measure || fig.Key != a.key(fig.Algorithm, fig.Servers) {
				continue
			}
			f.Rows = append(f.Rows, forestRow{Figure: fig})
			f.Yardstick = f.Yardstick || fig.Relative != nil
			scale.hold(uncertain, d.Low, d.High)
			scale.hold(farthest, d.Ratio, fig.Itself.Medians())
		}
		f.Way = fmt.Sprintf("← %s · %s →", a.less, a.more)
		if len(f.Rows) > 0 {
			list = append(list, f)
		}
	}
	for i := range list {
		list[i].Axis = scale.axis()
		for j := range list[i].Rows {
			own := scale
			own.least = c.Performance.LeastOf(list[i].Rows[j].Figure)
			list[i].Rows[j].Drawn = own.draw(list[i].Rows[j].Figure)
		}
	}
	return list
}

// forestScale is a logarithmic axis with 1× in its middle. What is beyond its ends is drawn
// at them.
type forestScale struct {
	least float64 // the least difference that counts
	most  float64 // of the logarithms
}

// The axis goes no farther than this, and for intervals less far, and leaves a part of its
// width, in percent, at each end.
const (
	farthest  = 64.
	uncertain = 8.
	axisInset = 4.
)

func (s *forestScale) hold(limit float64, ratios ...float64) {
	for _, r := range ratios {
		s.most = max(s.most, min(1.05*math.Abs(math.Log(r)), math.Log(limit)))
	}
}

// x is where a ratio is, in percent of the width.
func (s forestScale) x(ratio float64) float64 {
	part := math.Log(ratio) / s.most
	return 50 + (50-axisInset)*min(max(part, -1), 1)
}

func (s forestScale) beyond(ratio float64) bool { return math.Abs(math.Log(ratio)) > 1.0001*s.most }

// ticks are the ratios at which the axis has a mark: few enough for a narrow page.
func (s forestScale) ticks() []float64 {
	steps := []float64{1.2, 1.4}
	for _, wider := range [][]float64{{1.5, 2}, {2, 4}, {2, 4, 8}, {4, 16}, {8, 64}} {
		if math.Log(wider[len(wider)-1]) <= s.most {
			steps = wider
		}
	}
	ticks := []float64{1}
	for _, r := range steps {
		ticks = append(ticks, r, 1/r)
	}
	return ticks
}

const forestHeight = 36

func (s forestScale) axis() template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="fr" width="100%" height="20" aria-hidden="true">`)
	for _, r := range s.ticks() {
		fmt.Fprintf(&b, `<text x="%s%%" y="14">%s×</text>`, num(s.x(r)), strconv.FormatFloat(r, 'g', 3, 64))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// draw draws a row: the interval before around 1×, and below it that of now.
func (s forestScale) draw(f gate.Figure) template.HTML {
	const before, now = 11, 24
	sides, d := f.Counts(), f.Counts().Difference
	var b strings.Builder
	line := func(class string, x0, y0, x1, y1 float64) {
		fmt.Fprintf(&b, `<line class="%s" x1="%s%%" y1="%s" x2="%s%%" y2="%s"/>`, class, num(x0), num(y0), num(x1), num(y1))
	}
	fmt.Fprintf(&b, `<svg class="fr %s" width="100%%" height="%d" role="img" aria-label="%s">`, f.Trend, forestHeight, html.EscapeString(tellCost(f)))
	low, high := s.x(1/(1+s.least)), s.x(1+s.least)
	fmt.Fprintf(&b, `<rect class="least" x="%s%%" y="0" width="%s%%" height="%d"/>`, num(low), num(high-low), forestHeight)
	for _, r := range s.ticks() {
		class := "grid"
		if r == 1 {
			class = "one"
		}
		line(class, s.x(r), 0, s.x(r), forestHeight)
	}
	if m := sides.Base.Median; m > 0 && sides.Base.Low > 0 {
		line("was", s.x(sides.Base.Low/m), before, s.x(sides.Base.High/m), before)
	}
	line("join", s.x(1), before, s.x(d.Ratio), now)
	fmt.Fprintf(&b, `<circle class="wasdot" cx="%s%%" cy="%d" r="4"/>`, num(s.x(1)), before)
	line("now", s.x(d.Low), now, s.x(d.High), now)
	for _, end := range []float64{d.Low, d.High} {
		if !s.beyond(end) {
			line("now", s.x(end), now-4, s.x(end), now+4)
		}
	}
	if f.Relative != nil {
		x := s.x(f.Itself.Medians())
		line("itself", x, now-8, x, now+8)
	}
	fmt.Fprintf(&b, `<circle class="nowdot" cx="%s%%" cy="%d" r="5"/></svg>`, num(s.x(d.Ratio)), now)
	return template.HTML(b.String())
}
