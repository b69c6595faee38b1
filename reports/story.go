package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// forever stands for "until the end of the history and beyond".
const forever = lockbench.Instant(1<<63 - 1)

// period is a stretch of time.
type period struct{ from, to lockbench.Instant }

func (p period) has(t lockbench.Instant) bool { return p.from <= t && t <= p.to }
func (p period) meets(o period) bool          { return p.from <= o.to && o.from <= p.to }

// acquisition is everything that a history tells about one acquisition.
type acquisition struct {
	id, client, lock string
	call, ret        lockbench.Instant // ret is 0 if no reply arrived
	result           lockbench.Result
	token            uint64
	until            lockbench.Instant // of the grant, 0 for no bound
	renewals         []lockbench.Event
	releases         []release
	lost, dead       lockbench.Instant // 0 for never
	accesses         []lockbench.Event // reads and writes of the store
	steps            []lockbench.Event
}

type release struct {
	call, ret lockbench.Instant
	result    lockbench.Result
}

// story is a history by acquisition.
type story struct {
	start, end lockbench.Instant
	list       []*acquisition // in the order of their calls
	byID       map[string]*acquisition
	silences   map[string][]period // by worker
	faults     []faultWindow
}

type faultWindow struct {
	name string
	period
	heal lockbench.Instant // when healing began, 0 if it never did
	note string
}

func tell(h lockbench.History) *story {
	s := &story{byID: make(map[string]*acquisition), silences: make(map[string][]period)}
	if len(h) == 0 {
		return s
	}
	h = slices.Clone(h)
	slices.SortStableFunc(h, func(a, b lockbench.Event) int { return cmp.Compare(a.At, b.At) })
	s.start, s.end = h[0].At, h[len(h)-1].At
	dead := make(map[string]lockbench.Instant)
	for _, e := range h {
		switch e.Kind {
		case lockbench.KindSilent:
			s.silences[e.Worker] = append(s.silences[e.Worker], period{e.Call, e.At})
		case lockbench.KindDead:
			dead[e.Worker] = e.At
		case lockbench.KindFault:
			s.fault(e)
		default:
			if e.ID != "" {
				s.acquisition(e).add(e)
			}
		}
	}
	for _, a := range s.list {
		a.dead = deathOf(a, dead)
	}
	slices.SortStableFunc(s.list, func(a, b *acquisition) int { return cmp.Compare(a.call, b.call) })
	return s
}

func (s *story) acquisition(e lockbench.Event) *acquisition {
	a := s.byID[e.ID]
	if a == nil {
		a = &acquisition{id: e.ID, call: e.At}
		s.byID[e.ID] = a
		s.list = append(s.list, a)
	}
	a.client, a.lock = cmp.Or(a.client, e.Client), cmp.Or(a.lock, e.Lock)
	return a
}

func (a *acquisition) add(e lockbench.Event) {
	switch {
	case e.Kind == lockbench.KindCall && e.Op == lockbench.OpAcquire:
		a.call = e.At
	case e.Kind == lockbench.KindReturn && e.Op == lockbench.OpAcquire:
		a.ret, a.result, a.token, a.until = e.At, e.Result, e.Token, e.Until
	case e.Kind == lockbench.KindCall && e.Op == lockbench.OpRelease:
		a.releases = append(a.releases, release{call: e.At, result: lockbench.Unknown})
	case e.Kind == lockbench.KindReturn && e.Op == lockbench.OpRelease && len(a.releases) > 0:
		r := &a.releases[len(a.releases)-1]
		r.ret, r.result = e.At, e.Result
	case e.Kind == lockbench.KindRenew:
		a.renewals = append(a.renewals, e)
	case e.Kind == lockbench.KindLost && a.lost == 0:
		a.lost = e.At
	case e.Kind == lockbench.KindRead, e.Kind == lockbench.KindWrite:
		a.accesses = append(a.accesses, e)
	case e.Kind == lockbench.KindStep:
		a.steps = append(a.steps, e)
	}
}

func (s *story) fault(e lockbench.Event) {
	if e.Phase == "strike" {
		s.faults = append(s.faults, faultWindow{name: e.Name, period: period{e.At, forever}})
		return
	}
	for i := len(s.faults) - 1; i >= 0; i-- {
		f := &s.faults[i]
		if f.name != e.Name || f.to != forever {
			continue
		}
		if e.Phase == "heal" {
			f.heal = e.At
		} else {
			f.to, f.note = e.At, e.Note
		}
		return
	}
}

// worker is the process of a client: clients are named after it.
func worker(client string) string {
	w, _, _ := strings.Cut(client, ".")
	return w
}

func deathOf(a *acquisition, dead map[string]lockbench.Instant) lockbench.Instant {
	t := dead[worker(a.client)]
	if t < a.call {
		return 0 // the worker was killed before and has been started again
	}
	return t
}

func (a *acquisition) granted() bool { return a.ret != 0 && a.result == lockbench.OK }

// stop is when the client stopped acting as the holder, by its own will or by
// its death.
func (a *acquisition) stop() lockbench.Instant {
	t := forever
	if len(a.releases) > 0 {
		t = a.releases[0].call
	}
	if a.dead != 0 {
		t = min(t, a.dead)
	}
	return t
}

// beliefs are the periods in which the client, by its own reckoning, held the
// lock. A renewal that was confirmed only after the lease had ended leaves a
// gap between two of them.
func (a *acquisition) beliefs() []period {
	if !a.granted() {
		return nil
	}
	limit := a.stop()
	if a.lost != 0 {
		limit = min(limit, a.lost)
	}
	until := func(t lockbench.Instant) lockbench.Instant {
		if t == 0 {
			return forever
		}
		return t
	}
	out := []period{{a.ret, until(a.until)}}
	for _, r := range a.renewals {
		last := &out[len(out)-1]
		if r.At <= last.to {
			last.to = max(last.to, until(r.Until))
		} else {
			out = append(out, period{r.At, until(r.Until)})
		}
	}
	for i, p := range out {
		if p.from > limit {
			return out[:i]
		}
		out[i].to = min(p.to, limit)
	}
	return out
}

// leaseEnd is the end of the last belief if the lease or the loss of it ended
// it, and not the client itself; 0 otherwise.
func (a *acquisition) leaseEnd() lockbench.Instant {
	b := a.beliefs()
	if len(b) == 0 || b[len(b)-1].to == a.stop() || b[len(b)-1].to == forever {
		return 0
	}
	return b[len(b)-1].to
}

// silentIn are the periods of p in which the client's process did not run.
func (s *story) silentIn(client string, p period) []period {
	var out []period
	for _, q := range s.silences[worker(client)] {
		if q.meets(p) {
			out = append(out, q)
		}
	}
	return out
}

// grantsIn counts the grants of a lock in a period.
func (s *story) grantsIn(lock string, p period) int {
	n := 0
	for _, a := range s.list {
		if a.lock == lock && a.granted() && p.has(a.ret) {
			n++
		}
	}
	return n
}
