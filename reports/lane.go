package reports

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

// past are the periods in which the client went on as the holder though, by its
// own reckoning, it did not hold the lock any more.
func (a *acquisition) past() []period {
	b := a.beliefs()
	stop := a.stop()
	if n := len(a.accesses); stop == forever && n > 0 {
		stop = a.accesses[n-1].At
	}
	var out []period
	for i, p := range b {
		next := stop
		if i+1 < len(b) {
			next = b[i+1].from
		}
		if p.to < next && next != forever {
			out = append(out, period{p.to, next})
		}
	}
	return out
}

// lane draws what one client did: the bars.
func (d *drawing) lane(l lane, top float64) {
	mid := top + barMiddle
	d.f(`<path class="sep" d="M0 %sH%d"/>`, num(top), tlWidth)
	d.text("lanename", tlGutter-10, mid+4, clip(l.client, 15))
	d.f(`<path class="rail" d="M%d %sH%d"/>`, tlGutter, num(mid), tlRight)
	var pend, hold bars
	for _, a := range l.acqs {
		if !d.small(a) {
			d.acquisition(a, mid)
			continue
		}
		if p := (period{a.call, a.answered(d.story.end)}); d.ts.shows(p) {
			pend.add(d.ts, p)
		}
		for _, p := range a.beliefs() {
			if d.ts.shows(p) {
				hold.add(d.ts, p)
			}
		}
	}
	d.bars("pend", pend, mid-4, 8)
	d.bars("hold", hold, mid-10, 20)
	for _, p := range d.story.silentIn(l.client, d.window) {
		d.bar("ice", p, mid, 26)
	}
	if dead := l.dead(); dead != 0 {
		x := d.ts.x(dead)
		d.f(`<path class="tomb" d="M%s %sH%d"/>`, num(x), num(mid), tlRight)
		d.f(`<path class="death" d="M%s %sl12 12m0 -12l-12 12"/>`, num(x-6), num(mid-6))
	}
}

// small reports whether a is too short, in pixels, for its parts to be told apart,
// and not what the finding is about. There can be thousands of these.
func (d *drawing) small(a *acquisition) bool {
	from := a.ret
	if !a.granted() {
		from = a.call
	}
	return !slices.Contains(d.principal, a) && d.ts.x(a.spans().to)-d.ts.x(from) < 8
}

func (l lane) dead() lockbench.Instant {
	for _, a := range l.acqs {
		if a.dead != 0 {
			return a.dead
		}
	}
	return 0
}

func (d *drawing) acquisition(a *acquisition, mid float64) {
	d.bar("pend", period{a.call, a.answered(d.story.end)}, mid, 8)
	for _, p := range a.beliefs() {
		d.bar("hold", p, mid, 20)
	}
	for _, p := range a.past() {
		d.bar("past", p, mid, 20)
	}
	for _, r := range a.releases {
		d.bar("rele", period{r.call, max(r.call, r.ret)}, mid, 8)
	}
}

// answered is when the client stopped waiting for the answer to its acquire.
func (a *acquisition) answered(end lockbench.Instant) lockbench.Instant {
	if a.ret != 0 {
		return a.ret
	}
	return min(a.stop(), end)
}

// bar draws p, at least one pixel wide, unless a break hides it.
func (d *drawing) bar(class string, p period, mid, height float64) {
	if !d.ts.shows(p) {
		return
	}
	x0, x1 := d.ts.x(p.from), d.ts.x(p.to)
	d.f(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(x0), num(mid-height/2), num(max(x1-x0, 1)), num(height))
}

// marks draws the points in time: lease ends, reads and writes, the numbers of
// the moments, and above the bars the labels there is room for.
func (d *drawing) marks(l lane, top float64) {
	mid := top + barMiddle
	for _, a := range l.acqs {
		if d.small(a) {
			continue
		}
		d.leaseMarks(a, mid)
		for _, e := range a.accesses {
			d.accessMark(e, mid)
		}
	}
	var mine []moment
	for _, m := range d.moments {
		if m.Client == l.client {
			mine = append(mine, m)
		}
	}
	d.badges(mine, top)
	d.labels(mine, top)
}

func (d *drawing) leaseMarks(a *acquisition, mid float64) {
	for _, p := range a.past() {
		if d.ts.shows(period{p.from, p.from}) {
			d.f(`<path class="until" d="M%s %sv32"/>`, num(d.ts.x(p.from)), num(mid-16))
		}
	}
	for _, r := range few(a.renewals, 40) {
		if d.ts.shows(period{r.At, r.At}) {
			d.f(`<path class="renew" d="M%s %sl3 4h-6z"/>`, num(d.ts.x(r.At)), num(mid-15))
		}
	}
}

func (d *drawing) accessMark(e lockbench.Event, mid float64) {
	if !d.ts.shows(period{e.At, e.At}) {
		return
	}
	x := d.ts.x(e.At)
	switch {
	case e.Kind == lockbench.KindRead:
		d.f(`<circle class="read" cx="%s" cy="%s" r="3.5"/>`, num(x), num(mid))
	case stale(e):
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
	var taken []period
	byRank := slices.Clone(moments)
	slices.SortStableFunc(byRank, func(a, b moment) int { return cmp.Compare(a.rank, b.rank) })
	for _, m := range byRank {
		half := textWidth(m.label)/2 + 2
		x := min(max(d.ts.x(m.At), tlGutter+half), tlWidth-half)
		room := period{lockbench.Instant(x - half), lockbench.Instant(x + half)}
		if m.label == "" || slices.ContainsFunc(taken, room.meets) {
			continue
		}
		taken = append(taken, room)
		class := "lbl"
		if m.Bad {
			class = "lbl bad"
		}
		d.text(class, x, top+13, m.label)
	}
}
