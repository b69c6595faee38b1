package reports

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// period is a stretch of time, ends included.
type period = history.Span

const forever = history.Forever

func meets(p, q period) bool { return p.From <= q.To && q.From <= p.To }

// act is one acquisition as a picture shows it.
type act struct {
	*history.Acquisition
	n    int32 // of it in the index
	from lb.Instant
	// answered is when its client stopped waiting for the answer.
	answered lb.Instant
	// released is its client's own first call of a release, dead the death of the
	// client's process; both forever for never.
	released, dead lb.Instant
	belief         []period
	// past are the stretches in which the client went on as the holder though it did
	// not rely on the lock, or could not any more.
	past []period
	// lapsed is when the lease, or the loss of it, ended the last belief, and not the
	// client itself; forever if it did not.
	lapsed   lb.Instant
	accesses []*history.Access
	releases []*history.Release
	renewals []*history.Renewal
}

// act makes the nth acquisition ready to be drawn.
func (s *scene) act(n int32) *act {
	if a := s.acts[n]; a != nil {
		return a
	}
	acq := &s.Acqs[n]
	a := &act{Acquisition: acq, n: n, from: s.first(acq), answered: acq.Return, released: s.Released(acq), dead: s.Dead(acq),
		belief: s.Belief(acq), lapsed: forever, accesses: s.accessesOf(n)}
	for r := range s.Releases(acq) {
		a.releases = append(a.releases, r)
	}
	for r := range s.Renewals(acq) {
		a.renewals = append(a.renewals, r)
	}
	if a.answered == forever {
		a.answered = min(a.stop(), s.Last)
	}
	if k := len(a.belief); k > 0 && a.belief[k-1].To < a.stop() {
		a.lapsed = a.belief[k-1].To
	} else if k == 0 && a.Granted() { // its lease had ended before it heard of it
		if ended, _ := s.EndedBefore(acq, forever); ended < a.stop() {
			a.lapsed = ended
		}
	}
	if to := a.active(); a.Granted() && a.Return < to {
		a.past = history.Without([]period{{From: a.Return, To: to}}, a.belief)
	}
	s.acts[n] = a
	return a
}

// stop is when the client stopped acting as the holder, by its own will or by its
// death.
func (a *act) stop() lb.Instant { return min(a.released, a.dead) }

// active is up to when the client is known to have gone on as the holder: to its own
// release or its death, and to its last access of the store, whatever went before.
func (a *act) active() lb.Instant {
	to := a.stop()
	if to == forever {
		to = a.from
	}
	for _, e := range a.accesses {
		to = max(to, min(e.At, a.dead))
	}
	return to
}

// over reports whether nothing was left for its client to do.
func (a *act) over() bool {
	if k := len(a.releases); k > 0 {
		return a.releases[k-1].Return < forever
	}
	return a.Return < forever && !a.Granted()
}

// first is when an acquisition was first heard of. One that nobody asked for begins
// with a release.
func (s *scene) first(a *history.Acquisition) lb.Instant {
	for r := range s.Releases(a) {
		if !a.Asked {
			return r.Call
		}
		return min(a.Call, r.Call)
	}
	return a.Call
}

// extent is the time from the first call to the last that was heard of it.
func (s *scene) extent(n int32) period {
	a := &s.Acqs[n]
	p := period{From: s.first(a)}
	switch stop := min(s.Released(a), s.Dead(a)); {
	case a.Granted():
		p.To = min(s.LeaseEnd(a), a.Lost, stop)
	case a.Asked:
		p.To = min(a.Return, stop, s.Last)
	}
	p.To = max(p.To, p.From)
	for r := range s.Releases(a) {
		p.To = max(p.To, r.Call)
		if r.Return < forever {
			p.To = max(p.To, r.Return)
		}
	}
	for _, i := range s.served.of(n) {
		p.To = max(p.To, s.Accesses[i].At)
	}
	return p
}

// served lists the accesses of the store by acquisition, in the store's order.
type served struct {
	first []int32 // of each acquisition in the list, and the end of it
	list  []int32
}

func newServed(ix *history.Index) served {
	v := served{make([]int32, len(ix.Acqs)+1), make([]int32, len(ix.Accesses))}
	for i := range ix.Accesses {
		v.first[ix.Accesses[i].Acq]++
	}
	end := int32(0)
	for n, count := range v.first {
		end += count
		v.first[n] = end
	}
	for i, e := range slices.Backward(ix.Accesses) {
		v.first[e.Acq]--
		v.list[v.first[e.Acq]] = int32(i)
	}
	return v
}

// of lists the numbers of the accesses of one acquisition.
func (v *served) of(n int32) []int32 { return v.list[v.first[n]:v.first[n+1]] }

func (s *scene) accessesOf(n int32) []*history.Access {
	var out []*history.Access
	for _, i := range s.served.of(n) {
		out = append(out, &s.Accesses[i])
	}
	return out
}
