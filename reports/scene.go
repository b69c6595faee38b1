package reports

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

const (
	maxPrincipals = 4
	maxLanes      = 6
	maxBystanders = 2
)

// scene is what one finding's picture shows: which clients, which stretch of
// time, and the moments that tell the story.
type scene struct {
	story     *story
	lock      string
	principal []*acquisition // what the story is about
	anchors   []lockbench.Instant
	window    period
	lanes     []lane
	moments   []moment
	ts        timescale
	decimals  int    // that the times of the moments need
	both      period // in which the two holders of a double grant overlap
	others    int    // clients that used the lock meanwhile and have no lane
}

// lane is one client.
type lane struct {
	client string
	acqs   []*acquisition
}

// newScene picks what to show of f. It returns nil if the history knows none of
// the finding's acquisitions.
func newScene(h lockbench.History, f lockbench.Finding, plan lockbench.Plan) *scene {
	s := &scene{story: tell(h)}
	s.principal = s.principals(f)
	if len(s.principal) == 0 {
		return nil
	}
	s.lock = s.principal[0].lock
	for _, a := range s.principal {
		s.moments = append(s.moments, s.momentsOf(a, f)...)
	}
	s.window = s.span(f)
	s.moments = slices.DeleteFunc(s.moments, func(m moment) bool { return !m.soft && !s.window.has(m.At) })
	for _, m := range s.moments {
		if !m.soft {
			s.anchors = append(s.anchors, m.At)
		}
	}
	if f.Mechanism == lockbench.Ghost {
		s.anchors = append(s.anchors, s.window.to)
	}
	if len(s.anchors) > 0 {
		s.window = period{slices.Min(s.anchors), slices.Max(s.anchors)}
	}
	if s.window.to == s.window.from {
		s.window.to += lockbench.Instant(plan.TTL/100 + 1000)
	}
	s.ts = newTimescale(s.window, s.anchors, tlGutter, tlRight)
	s.lanes = s.lanesFor(f.Mechanism == lockbench.Ghost)
	s.number()
	_, s.decimals = s.ts.ticks(s.story.start, tickGap)
	s.decimals = min(max(s.decimals+1, 3), 5)
	if f.Mechanism == lockbench.DoubleGrant {
		s.both = overlap(s.story.byID, f.IDs)
	}
	return s
}

// principals are the acquisitions that the finding names, and those that a
// reader needs to understand it: who released too late and so freed somebody
// else's lock, and who was granted the lock while the one holder overstayed.
func (s *scene) principals(f lockbench.Finding) []*acquisition {
	var out []*acquisition
	add := func(a *acquisition) {
		if a != nil && !slices.Contains(out, a) && len(out) < maxLanes {
			out = append(out, a)
		}
	}
	for _, id := range namesToDraw(f) {
		add(s.story.byID[id])
	}
	switch {
	case f.Mechanism == lockbench.DoubleGrant && len(out) > 1:
		add(s.lateReleaser(out[0], out[1]))
	case f.Mechanism == lockbench.Overstay && len(out) > 0:
		add(s.overtaker(out[0]))
		add(s.lastWriter(out[0], f.At))
	}
	slices.SortStableFunc(out, func(a, b *acquisition) int { return cmp.Compare(a.ret, b.ret) })
	return out
}

// namesToDraw are a bounded number of the finding's acquisitions: of a chain of
// double grants the beginning, of an overtaken holder only itself, because
// those who overtook it may be hundreds.
func namesToDraw(f lockbench.Finding) []string {
	switch f.Mechanism {
	case lockbench.DoubleGrant:
		return f.IDs[:min(len(f.IDs), maxPrincipals-1)]
	case lockbench.Overstay:
		return f.IDs[:min(len(f.IDs), 1)]
	}
	return few(f.IDs, maxPrincipals)
}

// lastWriter is the acquisition of another client that wrote last before t:
// what a stale write at t overwrites is its work.
func (s *scene) lastWriter(a *acquisition, t lockbench.Instant) *acquisition {
	var found *acquisition
	var when lockbench.Instant
	for _, b := range s.story.list {
		for _, e := range b.accesses {
			if b.lock == a.lock && b.client != a.client && e.Kind == lockbench.KindWrite && e.At < t && e.At > max(when, a.ret) {
				found, when = b, e.At
			}
		}
	}
	return found
}

// lateReleaser is a third acquisition that released though its own lease had
// ended, the last one to do so while first was granted the lock or held it and
// second was not granted it yet.
func (s *scene) lateReleaser(first, second *acquisition) *acquisition {
	var found *acquisition
	var when lockbench.Instant
	for _, a := range s.story.list {
		end := a.leaseEnd()
		if a == first || a == second || a.lock != first.lock || end == 0 {
			continue
		}
		for _, r := range a.releases {
			if end < r.call && r.call > when && (period{r.call, max(r.call, r.ret)}).meets(period{first.call, second.ret}) {
				found, when = a, r.call
			}
		}
	}
	return found
}

// overtaker is the first acquisition granted after a's lease had ended.
func (s *scene) overtaker(a *acquisition) *acquisition {
	end := a.leaseEnd()
	var found *acquisition
	for _, b := range s.story.list {
		after := end != 0 && b.granted() && b.ret >= end && b.ret < a.stop()
		if after && b.lock == a.lock && b.client != a.client && (found == nil || b.ret < found.ret) {
			found = b
		}
	}
	return found
}

// span is the finding's own range, as far as it says one, and else that of its
// moments.
func (s *scene) span(f lockbench.Finding) period {
	if f.To > f.From {
		w := period{f.From, f.To}
		for _, m := range s.moments {
			if m.wide {
				w = period{min(w.from, m.At), max(w.to, m.At)}
			}
		}
		return w
	}
	w := period{forever, 0}
	for _, m := range s.moments {
		w = period{min(w.from, m.At), max(w.to, m.At)}
	}
	return w
}

// overlap is the first time in which two of the acquisitions both believed to
// hold the lock; zero if there is none.
func overlap(byID map[string]*acquisition, ids []string) period {
	var before []period
	for _, id := range ids {
		a := byID[id]
		if a == nil {
			continue
		}
		for _, p := range a.beliefs() {
			for _, q := range before {
				if p.meets(q) {
					return period{max(p.from, q.from), min(p.to, q.to)}
				}
			}
		}
		before = append(before, a.beliefs()...)
	}
	return period{}
}

// lanesFor gives the principals' clients a lane each, and the busiest one or
// two others that held the lock in the time drawn (or only waited for it, where
// waiting is the point), so that the picture shows what went on beside.
func (s *scene) lanesFor(waiting bool) []lane {
	var clients []string
	for _, a := range s.principal {
		if !slices.Contains(clients, a.client) {
			clients = append(clients, a.client)
		}
	}
	by := make(map[string][]*acquisition)
	unseen := make(map[string]bool)
	var rest []string
	for _, a := range s.story.list {
		if a.lock != s.lock || !a.spans().meets(s.window) {
			continue
		}
		by[a.client] = append(by[a.client], a)
		seen := waiting || slices.ContainsFunc(a.beliefs(), s.ts.shows)
		switch {
		case slices.Contains(clients, a.client), slices.Contains(rest, a.client):
		case seen:
			rest = append(rest, a.client)
		default:
			unseen[a.client] = true
		}
	}
	slices.SortStableFunc(rest, func(a, b string) int { return cmp.Compare(granted(by[b]), granted(by[a])) })
	n := min(len(rest), maxBystanders, max(0, maxPrincipals-len(clients)))
	s.others = len(rest) - n
	for c := range unseen {
		if !slices.Contains(rest, c) {
			s.others++
		}
	}
	var out []lane
	for _, c := range append(clients, rest[:n]...) {
		out = append(out, lane{c, by[c]})
	}
	return out
}

// spans is the whole time from the first call to the last reply.
func (a *acquisition) spans() period {
	if n := len(a.releases); n > 0 && a.releases[n-1].ret != 0 {
		return period{a.call, a.releases[n-1].ret}
	}
	if a.ret != 0 && a.result != lockbench.OK && len(a.releases) == 0 {
		return period{a.call, a.ret}
	}
	return period{a.call, a.stop()}
}

func granted(list []*acquisition) int {
	n := 0
	for _, a := range list {
		if a.granted() {
			n++
		}
	}
	return n
}

func (s *scene) laneOf(client string) int {
	return slices.IndexFunc(s.lanes, func(l lane) bool { return l.client == client })
}
