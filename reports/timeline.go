package reports

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// The geometry of a timeline, in pixels of its viewBox.
const (
	tlWidth    = 960
	tlGutter   = 104 // lane names
	tlRight    = tlWidth - 18
	laneHeight = 70
	barMiddle  = 33 // below the top of its lane
	badgeLine  = 58
	bandHead   = 18 // room for the faults' names
	axisHeight = 52
	stripLane  = 8 // a lane of the overview
	stripGap   = 26
	charWidth  = 6.1
	tickGap    = 78
)

// Timeline draws a finding on real time, as an SVG for the page that [HTML]
// writes (its styles stand there): a lane for each client involved, waiting,
// holding, going on past the lease, frozen; what it read and wrote; the
// fault's window behind it. Stretches without any of this are cut out, and the
// overview on top then shows the true proportions. It returns "" if the history knows
// none of the finding's acquisitions.
func Timeline(ix *history.Index, f checker.Finding, plan history.Plan) string {
	s := newScene(ix, f, plan)
	if s == nil {
		return ""
	}
	return s.svg()
}

// drawing collects the SVG's elements.
type drawing struct {
	strings.Builder
	*scene
	top  float64 // of the first lane
	head float64 // room above it for the names of bands
}

func (s *scene) svg() string {
	d := &drawing{scene: s}
	deeds := s.deedsIn(s.whole())
	bands, names := d.bandsIn(s.whole())
	d.head = float64(names) * bandHead
	if len(d.both) > 0 {
		d.head += bandHead
	}
	if len(deeds) > 0 {
		d.head += bandHead
	}
	d.top = d.head
	if d.broken() {
		d.top += float64(len(s.lanes)*stripLane + stripGap + 14)
	}
	height := d.bottom() + axisHeight
	d.f(`<svg class="tl" viewBox="0 0 %d %s" role="img" aria-label="Timeline of %s">`, tlWidth, num(height), html.EscapeString(s.of))
	d.f("<desc>%s</desc>", html.EscapeString(s.describe()))
	d.bands(bands)
	d.deeds(deeds, d.top-d.head+float64(names)*bandHead)
	d.axis()
	for i, l := range s.lanes {
		d.lane(l, d.laneTop(i))
	}
	d.breaks()
	for i, l := range s.lanes {
		d.marks(l, d.laneTop(i))
	}
	if d.broken() {
		d.overview()
	}
	d.WriteString("</svg>")
	return d.String()
}

func (d *drawing) broken() bool          { return len(d.ts.parts) > 1 }
func (d *drawing) laneTop(i int) float64 { return d.top + float64(i*laneHeight) }
func (d *drawing) bottom() float64       { return d.laneTop(len(d.lanes)) }

// f appends a formatted element on a line of its own.
func (d *drawing) f(format string, args ...any) {
	fmt.Fprintf(d, format, args...)
	d.WriteByte('\n')
}

// describe tells the moments as text, for those who can't see the picture.
func (s *scene) describe() string {
	var b strings.Builder
	for _, m := range s.moments {
		fmt.Fprintf(&b, "%d. %s: %s %s. ", m.N, s.when(m.At), m.Client, m.Text)
	}
	for _, a := range s.deedsIn(s.whole()) {
		fmt.Fprintf(&b, "The bench, %s. ", s.tellDeed(a))
	}
	return strings.TrimSpace(b.String())
}

// whole is the time from the first part to the last.
func (s *scene) whole() period {
	return period{From: s.ts.parts[0].From, To: s.ts.parts[len(s.ts.parts)-1].To}
}

func (d *drawing) axis() {
	y := d.bottom()
	ticks, decimals := d.ts.ticks(d.Start, tickGap)
	for _, p := range d.ts.parts {
		d.f(`<path class="axis" d="M%s %sH%s"/>`, num(p.x0), num(y), num(p.x1))
	}
	last := float64(tlGutter - 6) // "seconds" stands left of it
	for _, t := range ticks {
		d.f(`<path class="grid" d="M%s %sV%s"/>`, num(t.x), num(d.top), num(y+4))
		label := seconds(t.at-d.Start, decimals)
		if half := textWidth(label) / 2; t.x-half > last {
			d.text("tick", t.x, y+17, label)
			last = t.x + half + 4
		}
	}
	d.text("name", tlGutter-10, y+17, "seconds")
}

// breaks show how much time was cut out, and what went on in it.
func (d *drawing) breaks() {
	for i := range d.ts.parts[1:] {
		a, b := d.ts.parts[i], d.ts.parts[i+1]
		d.f(`<rect class="cut" x="%s" y="%s" width="%s" height="%s"/>`, num(a.x1), num(d.top), num(breakWidth), num(d.bottom()-d.top))
		for lane := range d.lanes {
			for _, x := range []float64{a.x1, b.x0} {
				d.f(`<use class="zig" href="#zig" x="%s" y="%s"/>`, num(x), num(d.laneTop(lane)))
			}
		}
		mid := (a.x1 + b.x0) / 2
		d.text("cutname", mid, d.bottom()+31, spanOf(b.From-a.To))
		n := d.grantsIn(period{From: a.To, To: b.From})
		what := "no grant"
		if n > 0 {
			what = english.Count(n, "grant")
		}
		d.text("cutname", mid, d.bottom()+45, what)
	}
}

// grantsIn counts the grants of the lock in a period.
func (s *scene) grantsIn(p period) int {
	n := 0
	for _, i := range s.ByLock()[s.lock] {
		if a := &s.Acqs[i]; a.Granted() && p.Has(a.Return) {
			n++
		}
	}
	return n
}

// overview shows the whole window without breaks, and where its parts are.
func (d *drawing) overview() {
	p := d.whole()
	whole := timescale{
		parts: []part{{p, tlGutter, tlRight}},
		perNS: (tlRight - tlGutter) / float64(p.To-p.From),
	}
	foot := 12 + float64(len(d.lanes)*stripLane)
	for _, w := range few(d.faultsIn(p), maxBars) {
		x0, x1 := whole.x(w.Strike), whole.x(w.Healed)
		if x1 > x0 {
			d.f(`<rect class="band" x="%s" y="9" width="%s" height="%s"/>`, num(x0), num(x1-x0), num(foot-9))
		}
	}
	for i, l := range d.lanes {
		d.stripLane(l, whole, 12+float64(i*stripLane))
	}
	for _, p := range d.ts.parts {
		x0, x1 := whole.x(p.From), whole.x(p.To)
		d.f(`<rect class="lens" x="%s" y="9" width="%s" height="%s"/>`, num(x0-1), num(x1-x0+2), num(foot-9))
		d.f(`<path class="guide" d="M%s %sL%s %sH%sL%s %sZ"/>`, num(x0-1), num(foot), num(p.x0), num(d.top-d.head), num(p.x1), num(x1+1), num(foot))
	}
	d.text("name", tlGutter-10, 20, "overview")
	d.text("name", tlGutter-10, 32, spanOf(p.To-p.From))
}

func (d *drawing) stripLane(l lane, ts timescale, y float64) {
	d.f(`<path class="rail" d="M%d %sH%d"/>`, tlGutter, num(y+3), tlRight)
	var pend, hold, past, ice bars
	for _, a := range l.acts {
		if !a.Granted() {
			pend.add(ts, period{From: a.from, To: a.answered})
		}
		for _, p := range a.belief {
			hold.add(ts, p)
		}
		for _, p := range a.past {
			past.add(ts, p)
		}
	}
	for _, p := range d.SilentIn(l.client, d.window) {
		ice.add(ts, p)
	}
	d.bars("pend", pend, y+.5, 5)
	d.bars("hold", hold, y+.5, 5)
	d.bars("past", past, y+.5, 5)
	d.bars("ice", ice, y+.5, 5)
}

// bars are from left to right. Those that a reader can't tell apart become one:
// there can be thousands.
type bars [][2]float64

func (b *bars) add(ts timescale, p period) {
	x0 := ts.x(p.From)
	x1 := max(ts.x(p.To), x0+1)
	if n := len(*b); n > 0 && x0 < (*b)[n-1][1]+.8 {
		(*b)[n-1][1] = max((*b)[n-1][1], x1)
		return
	}
	*b = append(*b, [2]float64{x0, x1})
}

// shown adds p unless a break hides it.
func (b *bars) shown(ts timescale, p period) {
	if ts.shows(p) {
		b.add(ts, p)
	}
}

// bars draws all bars of one kind as one path.
func (d *drawing) bars(class string, list bars, y, height float64) {
	if len(list) == 0 {
		return
	}
	d.WriteString(`<path class="` + class + `" d="`)
	for _, b := range list {
		fmt.Fprintf(d, "M%s %sH%sv%sH%sz", num(b[0]), num(y), num(b[1]), num(height), num(b[0]))
	}
	d.f(`"/>`)
}

func (d *drawing) text(class string, x, y float64, s string) {
	d.f(`<text class="%s" x="%s" y="%s">%s</text>`, class, num(x), num(y), html.EscapeString(s))
}

// num writes a coordinate with one decimal at most.
func num(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

func textWidth(s string) float64 { return charWidth * float64(utf8.RuneCountInString(s)) }
