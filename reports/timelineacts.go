package reports

import (
	"html"

	"github.com/lockbench/lockbench/history"
)

// deedsIn are what the bench did to which process at some time of p: the first and the
// last of many.
func (s *scene) deedsIn(p period) []*history.Act {
	var out []*history.Act
	for i := range s.Acts {
		if a := &s.Acts[i]; meets(deedSpan(a), p) {
			out = append(out, a)
		}
	}
	return few(out, maxBars)
}

func deedSpan(a *history.Act) period { return period{From: a.Begin, To: a.End} }

// words tell what was done to whom.
func words(a *history.Act) string { return a.Name + " " + a.Target }

// deeds draws a thin line for each, in a row of their own above the lanes, and its words
// where there is room for them.
func (d *drawing) deeds(list []*history.Act, y float64) {
	last := 0.0
	for _, a := range list {
		if !d.ts.shows(deedSpan(a)) {
			continue
		}
		x0, x1 := d.ts.x(a.Begin), d.ts.x(a.End)
		d.f(`<rect class="deed" x="%s" y="%s" width="%s" height="3"><title>%s</title></rect>`,
			num(x0), num(y+13), num(max(x1-x0, 2)), html.EscapeString(d.tellDeed(a)))
		x := min(max(x0, tlGutter), tlWidth-textWidth(words(a)))
		if x > last {
			d.text("deedname", x, y+10, words(a))
			last = x + textWidth(words(a)) + 6
		}
	}
}

// tellDeed says when, what, and what became of it.
func (s *scene) tellDeed(a *history.Act) string {
	until := "never ended"
	if a.End < forever {
		until = "until " + s.when(a.End)
	}
	told := s.when(a.Begin) + ": " + words(a)
	if a.Fault != "" && len(s.Faults) > 1 {
		told += " (" + a.Fault + ")"
	}
	told += ", " + until
	if a.Note != "" {
		told += ": " + a.Note
	}
	return told
}
