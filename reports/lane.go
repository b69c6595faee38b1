package reports

import (
	"cmp"
	"math"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// maxBars of one kind are drawn one by one.
const maxBars = 40

// lane draws what one client did: the bars.
func (d *drawing) lane(l lane, top float64) {
	mid := top + barMiddle
	d.f(`<path class="sep" d="M0 %sH%d"/>`, num(top), tlWidth)
	d.text("lanename", tlGutter-10, mid+4, clip(d.Clients[l.client].Name, 15))
	d.f(`<path class="rail" d="M%d %sH%d"/>`, tlGutter, num(mid), tlRight)
	var pend, hold bars
	for _, a := range l.acts {
		if l.large[a] {
			d.acquisition(a, mid)
			continue
		}
		pend.shown(d.ts, period{From: a.from, To: a.answered})
		for _, p := range a.belief {
			hold.shown(d.ts, p)
		}
	}
	d.bars("pend", pend, mid-4, 8)
	d.bars("hold", hold, mid-10, 20)
	for _, r := range d.strangers {
		if r.Client == l.client {
			d.bar("rele", period{From: r.Call, To: returned(r.Release)}, mid, 8)
		}
	}
	d.some("ice", d.SilentIn(l.client, d.window), mid, 26)
	if dead := d.dead(l); dead < forever {
		x := d.ts.x(dead)
		d.f(`<path class="tomb" d="M%s %sH%d"/>`, num(x), num(mid), tlRight)
		d.f(`<path class="death" d="M%s %sl12 12m0 -12l-12 12"/>`, num(x-6), num(mid-6))
	}
}

func (d *drawing) dead(l lane) lb.Instant {
	if w := d.WorkerOf(l.client); w != nil {
		return w.Dead
	}
	return forever
}

func (d *drawing) acquisition(a *act, mid float64) {
	if a.Asked {
		d.bar("pend", period{From: a.Call, To: a.answered}, mid, 8)
	}
	d.some("hold", a.belief, mid, 20)
	d.some("past", a.past, mid, 20)
	for _, r := range few(a.releases, maxBars) {
		if r.Client == a.Client {
			d.bar("rele", period{From: r.Call, To: returned(r)}, mid, 8)
		}
	}
}

// some draws a bar for each of the periods, and where they are many, one path for all.
func (d *drawing) some(class string, list []period, mid, height float64) {
	if len(list) <= maxBars {
		for _, p := range list {
			d.bar(class, p, mid, height)
		}
		return
	}
	var merged bars
	for _, p := range list {
		merged.shown(d.ts, p)
	}
	d.bars(class, merged, mid-height/2, height)
}

// bar draws p, at least one pixel wide, unless a break hides it.
func (d *drawing) bar(class string, p period, mid, height float64) {
	if !d.ts.shows(p) {
		return
	}
	x0, x1 := d.ts.x(p.From), d.ts.x(p.To)
	d.f(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(x0), num(mid-height/2), num(max(x1-x0, 1)), num(height))
}

// marks draws the points in time: lease ends, reads and writes, the numbers of
// the moments, and above the bars the labels there is room for.
func (d *drawing) marks(l lane, top float64) {
	mid := top + barMiddle
	for _, a := range l.acts {
		if !l.large[a] {
			continue
		}
		d.leaseMarks(a, mid)
		for _, e := range few(a.accesses, maxMarks) {
			d.accessMark(e, mid)
		}
	}
	var mine []moment
	for _, m := range d.moments {
		if m.client == l.client {
			mine = append(mine, m)
		}
	}
	d.badges(mine, top)
	d.labels(mine, top)
}

// Of one acquisition so many points are drawn: the first and the last.
const (
	maxMarks    = 200
	maxRenewals = 40
)

// leaseMarks are where a lease ended though its client went on, and the renewals.
func (d *drawing) leaseMarks(a *act, mid float64) {
	for _, p := range few(a.past, maxBars) {
		if p.From < a.stop() && d.ts.shows(period{From: p.From, To: p.From}) {
			d.f(`<path class="until" d="M%s %sv32"/>`, num(d.ts.x(p.From)), num(mid-16))
		}
	}
	for _, r := range few(a.renewals, maxRenewals) {
		if d.ts.shows(period{From: r.At, To: r.At}) {
			d.f(`<path class="renew" d="M%s %sl3 4h-6z"/>`, num(d.ts.x(r.At)), num(mid-15))
		}
	}
}

func (d *drawing) accessMark(e *history.Access, mid float64) {
	if !d.ts.shows(period{From: e.At, To: e.At}) {
		return
	}
	x := d.ts.x(e.At)
	switch {
	case !e.Write:
		d.f(`<circle class="read" cx="%s" cy="%s" r="3.5"/>`, num(x), num(mid))
	case stale(e) != nil:
		d.f(`<path class="write stale" d="M%s %sl6 6l-6 6l-6 -6z"/>`, num(x), num(mid-6))
	default:
		d.f(`<path class="write" d="M%s %sl4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>`, num(x), num(mid-4.5))
	}
}

// badges puts the moments' numbers in a row below the bar, moved aside where
// they would cover each other, each with a line to its point in time.
func (d *drawing) badges(moments []moment, top float64) {
	const r = 7.5
	xs := make([]float64, len(moments))
	for i, m := range moments {
		xs[i] = d.ts.x(m.At)
		if i > 0 {
			xs[i] = max(xs[i], xs[i-1]+2*r+1)
		}
	}
	limit := float64(tlWidth - r - 1)
	for i := len(xs) - 1; i >= 0; i-- {
		xs[i] = min(xs[i], limit)
		limit = xs[i] - 2*r - 1
	}
	for i, m := range moments {
		class := "badge"
		if m.Bad {
			class = "badge bad"
		}
		d.f(`<path class="lead" d="M%s %sV%sL%s %s"/>`, num(d.ts.x(m.At)), num(top+barMiddle+10), num(top+barMiddle+13), num(xs[i]), num(top+badgeLine-r))
		d.f(`<g class="%s"><circle cx="%s" cy="%s" r="%s"/><text x="%s" y="%s">%d</text></g>`,
			class, num(xs[i]), num(top+badgeLine), num(r), num(xs[i]), num(top+badgeLine+3.5), m.N)
	}
}

// labels writes what fits above the bar without overlap, the most telling first.
func (d *drawing) labels(moments []moment, top float64) {
	var taken [][2]float64
	byRank := slices.Clone(moments)
	slices.SortStableFunc(byRank, func(a, b moment) int { return cmp.Compare(a.rank, b.rank) })
	for _, m := range byRank {
		half := textWidth(m.label)/2 + 2
		x := min(max(d.ts.x(m.At), tlGutter+half), tlWidth-half)
		left, right := math.Trunc(x-half), math.Trunc(x+half)
		covers := func(o [2]float64) bool { return left <= o[1] && o[0] <= right }
		if m.label == "" || slices.ContainsFunc(taken, covers) {
			continue
		}
		taken = append(taken, [2]float64{left, right})
		class := "lbl"
		if m.Bad {
			class = "lbl bad"
		}
		d.text(class, x, top+13, m.label)
	}
}
