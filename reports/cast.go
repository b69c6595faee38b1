package reports

import (
	"cmp"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

const (
	maxPrincipals = 4
	maxLanes      = 6
	maxBystanders = 2
	// maxLarge acquisitions of a lane are drawn one by one, beside those that the
	// finding is about.
	maxLarge = 120
)

// lane is one client.
type lane struct {
	client int32
	acts   []*act
	large  map[*act]bool // drawn one by one
}

// principals are the acquisitions that the finding names, and those that a
// reader needs to understand it: who released too late and so freed somebody
// else's lock, and who was granted the lock while the one holder went on.
func (s *scene) principals(f checker.Finding) []*act {
	var out []*act
	add := func(a *act) {
		if a != nil && !slices.Contains(out, a) && len(out) < maxLanes {
			out = append(out, a)
		}
	}
	for _, a := range toDraw(s.named, f) {
		add(a)
	}
	switch {
	case f.Mechanism == lb.DoubleGrant && len(out) > 1:
		a, r := s.lateReleaser(out[0], out[1])
		add(a)
		s.blame(a, r, out[0])
	case f.Mechanism == lb.Overstay, f.Mechanism == lb.EarlyRelease:
		add(intruder(s.named, f.At))
		add(s.overtaker(out[0], f.At))
		add(s.lastWriter(out[0], f.At))
	}
	slices.SortStableFunc(out, func(a, b *act) int { return cmp.Compare(a.granted(), b.granted()) })
	return out
}

// granted is when it was granted or refused, and where nothing is known of that, when
// it began.
func (a *act) granted() lb.Instant {
	if a.Return < forever {
		return a.Return
	}
	return a.from
}

// toDraw are a bounded number of the finding's acquisitions: of a chain of
// double grants the beginning, of an overtaken holder only itself, because
// those who overtook it may be hundreds.
func toDraw(named []*act, f checker.Finding) []*act {
	switch f.Mechanism {
	case lb.DoubleGrant:
		return named[:min(len(named), maxPrincipals-1)]
	case lb.Overstay, lb.EarlyRelease:
		return named[:1]
	}
	return few(named, maxPrincipals)
}

// intruder is the last of those who overtook the one named first that wrote, before
// t, without relying on the lock.
func intruder(named []*act, t lb.Instant) *act {
	for _, a := range slices.Backward(named[1:]) {
		for _, e := range a.accesses {
			if e.Write && e.At <= t && a.Client != named[0].Client && !history.Within(a.belief, e.At) {
				return a
			}
		}
	}
	return nil
}

// lastWriter is the acquisition of another client that wrote last before t:
// what a stale write at t overwrites is its work.
func (s *scene) lastWriter(a *act, t lb.Instant) *act {
	var last *history.Access
	for i := range s.Accesses {
		e := &s.Accesses[i]
		if e.Write && s.Acqs[e.Acq].Lock == a.Lock && e.Client != a.Client && e.At < t && e.At > a.granted() && (last == nil || e.At > last.At) {
			last = e
		}
	}
	if last == nil {
		return nil
	}
	return s.act(last.Acq)
}

// lateReleaser is a third acquisition whose release was under way, or came, when its lease had
// ended: the last one to do so while first was granted the lock or held it and second was not
// granted it yet. A release that was sent in time can come too late.
func (s *scene) lateReleaser(first, second *act) (*act, *history.Release) {
	meanwhile := period{From: first.from, To: second.granted()}
	found, when := history.None, lb.Instant(-1)
	var release *history.Release
	for _, n := range s.ByLock()[s.lock] {
		a := &s.Acqs[n]
		if s.first(a) > meanwhile.To {
			break
		}
		if n == first.n || n == second.n {
			continue
		}
		for r := range s.Releases(a) {
			if r.Client != a.Client || r.Call <= when || !meets(period{From: r.Call, To: returned(r)}, meanwhile) {
				continue
			}
			if end := s.over(a); end < returned(r) && s.mayFree(r, end, first) {
				found, when, release = n, r.Call, r
			}
		}
	}
	if found == history.None {
		return nil, nil
	}
	return s.act(found), release
}

// over is when the acquisition was its client's no more, and before everything if it was never told to be.
func (s *scene) over(a *history.Acquisition) lb.Instant {
	if !a.Granted() {
		return -1
	}
	return min(s.LeaseEnd(a), a.Lost)
}

// mayFree reports whether a release of what ended at that time may have freed what holder was granted.
// One that was answered with a no did not; and one that was called in time did its work before, where
// the holder was granted the lock before the lease had ended.
func (s *scene) mayFree(r *history.Release, end lb.Instant, holder *act) bool {
	no := r.Result == lb.AnswerLost || r.Result == lb.AnswerFailed
	return !no && (end < r.Call || end <= holder.granted())
}

// blame says that a late release may have freed what holder held. Its answer says what it did; who
// was hurt by it the history does not know for certain.
func (s *scene) blame(a *act, r *history.Release, holder *act) {
	if a == nil || returned(r) < holder.granted() {
		return
	}
	seen := "What freed it, as far as can be seen"
	if r.Call < holder.granted() {
		seen = "What may have freed it"
	}
	s.cause = fmt.Sprintf("%s: the release by %s of its own acquisition, called at %s", seen, s.ClientName(a.Acquisition), s.clock(r.Call))
	switch end := s.over(a.Acquisition); {
	case !a.Granted():
		s.cause += ", of which it had heard no grant"
	case end < r.Call:
		s.cause += ", after its lease had ended at " + s.clock(end)
	default:
		s.cause += " and on its way when its lease ended at " + s.clock(end)
	}
	s.cause += fmt.Sprintf(" (answered: %s)", reply(r))
	if who := s.ClientName(holder.Acquisition); r.Call < holder.granted() {
		s.cause += fmt.Sprintf(", and not yet answered when %s was granted the lock: it came before that, or after.", who)
	} else {
		s.cause += fmt.Sprintf(", while %s had been granted the lock.", who)
	}
}

// returned is the end of a release, or its call if nothing is known of an end.
func returned(r *history.Release) lb.Instant {
	if r.Return < forever {
		return r.Return
	}
	return r.Call
}

// overtaker is the first acquisition granted to another client after a had ended, while
// its client went on at t.
func (s *scene) overtaker(a *act, t lb.Instant) *act {
	i := slices.IndexFunc(a.past, func(p period) bool { return p.Has(t) })
	if i < 0 {
		return nil
	}
	from, to := a.past[i].From, a.past[i].To
	found := history.None
	for _, n := range s.ByLock()[s.lock] {
		b := &s.Acqs[n]
		if b.Granted() && b.Client != a.Client && b.Return >= from && b.Return < to && (found == history.None || b.Return < s.Acqs[found].Return) {
			found = n
		}
	}
	if found == history.None {
		return nil
	}
	return s.act(found)
}

// cast are the clients that the story is about.
func (s *scene) cast() []int32 {
	var clients []int32
	add := func(c int32) {
		if c != history.None && !slices.Contains(clients, c) && len(clients) < maxLanes {
			clients = append(clients, c)
		}
	}
	for _, a := range s.principal {
		add(a.Client)
	}
	for _, r := range s.strangers {
		add(r.Client)
	}
	return clients
}

// lanesFor gives the clients of the story a lane each, and the busiest one or
// two others that held the lock in the time drawn (or only waited for it, where
// waiting is the point), so that the picture shows what went on beside.
func (s *scene) lanesFor(waiting bool) []lane {
	clients := s.cast()
	var rest []int32 // in the order in which they are first seen
	by := make(map[int32][]int32)
	seen := make(map[int32]bool)
	var belief []period
	for _, n := range s.ByLock()[s.lock] {
		a := &s.Acqs[n]
		p := s.extent(n)
		if p.From > s.window.To {
			break
		}
		if a.Client == history.None || !meets(p, s.window) {
			continue
		}
		by[a.Client] = append(by[a.Client], n)
		if seen[a.Client] {
			continue
		}
		belief = s.AppendBelief(belief[:0], a)
		if seen[a.Client] = waiting || slices.ContainsFunc(belief, s.ts.shows); seen[a.Client] && !slices.Contains(clients, a.Client) {
			rest = append(rest, a.Client)
		}
	}
	grants := make(map[int32]int, len(rest))
	for _, c := range rest {
		for _, n := range by[c] {
			if s.Acqs[n].Granted() {
				grants[c]++
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b int32) int { return cmp.Compare(grants[b], grants[a]) })
	rest = rest[:min(len(rest), maxBystanders, max(0, maxPrincipals-len(clients)))]
	var out []lane
	for _, c := range append(clients, rest...) {
		out = append(out, s.lane(c, by[c]))
		delete(by, c)
	}
	s.others = len(by)
	return out
}

// lane gathers the acquisitions of one client.
func (s *scene) lane(client int32, numbers []int32) lane {
	l := lane{client: client, large: make(map[*act]bool)}
	for _, n := range numbers {
		a := s.act(n)
		if k := len(l.acts); k > 0 { // what is not answered before the next call never is
			l.acts[k-1].answered = min(l.acts[k-1].answered, a.from)
		}
		l.acts = append(l.acts, a)
		if slices.Contains(s.principal, a) || len(l.large) < maxLarge && !s.small(a) {
			l.large[a] = true
		}
	}
	return l
}

// small reports whether a is too short, in pixels, for its parts to be told apart.
func (s *scene) small(a *act) bool {
	from := a.from
	if a.Granted() {
		from = a.Return
	}
	return s.ts.x(s.extent(a.n).To)-s.ts.x(from) < 8
}

func (s *scene) laneOf(client int32) int {
	return slices.IndexFunc(s.lanes, func(l lane) bool { return l.client == client })
}
