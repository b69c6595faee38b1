package reports

import (
	"html"

	"github.com/lockbench/lockbench/history"
)

// maxNames are the rows of faults' names, so that those of faults that are in force together
// do not lie on each other.
const maxNames = 3

// band is the time in which a fault was in force, and the row that its name stands in, -1
// where there is no room for it.
type band struct {
	*history.Fault
	row int
}

func (b band) name() string { return "fault: " + b.Name }

// nameAt is where the band's name begins.
func (d *drawing) nameAt(b band) float64 { return max(d.ts.x(b.Strike), tlGutter) + 5 }

// bandsIn are those of a period, and how many rows their names take: at least one.
func (d *drawing) bandsIn(p period) (all []band, rows int) {
	ends := make([]float64, 1, maxNames)
	for _, f := range few(d.faultsIn(p), maxBars) {
		b := band{f, 0}
		for b.row < len(ends) && ends[b.row] > d.nameAt(b) {
			b.row++
		}
		if b.row == len(ends) && b.row < maxNames {
			ends = append(ends, 0)
		}
		if b.row < len(ends) {
			ends[b.row] = d.nameAt(b) + textWidth(b.name())
		} else {
			b.row = -1
		}
		all = append(all, b)
	}
	return all, len(ends)
}

// bands shade the time in which a fault was in force.
func (d *drawing) bands(all []band) {
	top := d.top - d.head
	for _, b := range all {
		x0, x1 := d.ts.x(b.Strike), d.ts.x(b.Healed)
		place := func(end string) {
			d.f(`<rect class="band" x="%s" y="%s" width="%s" height="%s"%s`, num(x0), num(top), num(max(x1-x0, 1)), num(d.bottom()-top), end)
		}
		if b.row < 0 {
			place("><title>" + html.EscapeString(b.name()) + "</title></rect>")
			continue
		}
		place("/>")
		d.text("bandname", d.nameAt(b), top+13+float64(b.row)*bandHead, b.name())
	}
	for _, p := range d.both {
		x0, x1 := d.ts.x(p.From), d.ts.x(p.To)
		d.f(`<rect class="both" x="%s" y="%s" width="%s" height="%s"/>`, num(x0), num(d.top-bandHead), num(max(x1-x0, 1)), num(d.bottom()-d.top+bandHead))
		half := textWidth("two holders") / 2
		d.text("bothname", min(max((x0+x1)/2, tlGutter+half), tlWidth-half), d.top-5, "two holders")
	}
}

// faultsIn are those that were in force at some time of p.
func (s *scene) faultsIn(p period) []*history.Fault {
	var out []*history.Fault
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Struck && meets(f.Span(), p) {
			out = append(out, f)
		}
	}
	return out
}
