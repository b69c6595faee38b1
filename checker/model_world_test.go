package checker_test

import (
	"cmp"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// The models of this package judge histories by brute force, written from the words of
// docs/history.md alone. They share no code with the checkers, nor with the reader.

// never is later than every instant of a sample, and can be doubled.
const never = lb.Instant(1) << 60

// world is a history, sorted by acquisitions and nothing more.
type world struct {
	plan     history.Plan
	events   history.Events // in the order of time; at one t in that of the lines
	end      lb.Instant     // of the end event, or the last
	locks    []string
	acqs     []*hold
	homes    map[string]string // where each client lives
	deaths   map[string]lb.Instant
	silences []stretch // of workers
	faults   []stretch
	accesses []history.Event // in the order of seq
}

// hold is an acquisition.
type hold struct {
	lock, id, client string // client is "" if nobody asked for it
	shared           bool
	call, ret        moment
	result           lb.Answer
	until            lb.Instant
	token            uint64
	lost             lb.Instant
	releases         []*giveBack
	renewals         []history.Event
	renewedAt        []int // the places of the renewals in the order of events
}

// moment is a time with its place in the order of events.
type moment struct {
	t  lb.Instant
	at int
}

type giveBack struct {
	client    string
	call, ret moment
	result    lb.Answer
}

type stretch struct {
	name     string
	from, to lb.Instant
}

func (a *hold) granted() bool { return a.result == lb.AnswerOK }

func (w *world) deadOf(client string) lb.Instant {
	if t, ok := w.deaths[w.homes[client]]; ok && client != "" {
		return t
	}
	return never
}

// homesOf says where each client lives: as one of its calls tells, else what stands
// before the last dot of its name.
func homesOf(h history.Events) map[string]string {
	homes := map[string]string{}
	for _, ev := range h {
		if ev.Client == "" {
			continue
		}
		if _, ok := homes[ev.Client]; !ok {
			dot := strings.LastIndexByte(ev.Client, '.')
			homes[ev.Client] = ev.Client[:max(dot, 0)]
		}
	}
	for _, ev := range h {
		if ev.Kind == history.KindCall && ev.Worker != "" {
			homes[ev.Client] = ev.Worker
		}
	}
	return homes
}

func inOrder(h history.Events) history.Events {
	h = slices.Clone(h)
	slices.SortStableFunc(h, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	return h
}

// see makes the world of a history that makes sense.
func see(h history.Events, plan history.Plan) *world {
	w := &world{plan: plan, events: inOrder(h), homes: homesOf(h), deaths: map[string]lb.Instant{}}
	if n := len(w.events); n > 0 {
		w.end = w.events[n-1].At
	}
	byID := map[[2]string]*hold{}
	get := func(ev *history.Event) *hold {
		a := byID[[2]string{ev.Lock, ev.ID}]
		if a == nil {
			far := moment{never, len(h)}
			a = &hold{lock: ev.Lock, id: ev.ID, lost: never, call: far, ret: far, result: lb.AnswerUnknown}
			byID[[2]string{ev.Lock, ev.ID}] = a
			w.acqs = append(w.acqs, a)
			if !slices.Contains(w.locks, ev.Lock) {
				w.locks = append(w.locks, ev.Lock)
			}
		}
		return a
	}
	open := map[string]*giveBack{} // of the releases that were called, the last of each client
	for i := range w.events {
		ev := &w.events[i]
		now := moment{ev.At, i}
		switch {
		case ev.Kind == history.KindCall && ev.Op == history.OpAcquire:
			a := get(ev)
			a.client, a.shared, a.call, a.result = ev.Client, ev.Shared, now, lb.AnswerUnknown
		case ev.Kind == history.KindReturn && ev.Op == history.OpAcquire:
			a := get(ev)
			a.ret, a.result, a.until, a.token = now, ev.Result, ev.Until, ev.Token
		case ev.Kind == history.KindCall:
			r := &giveBack{client: ev.Client, call: now, ret: moment{never, len(h)}, result: lb.AnswerUnknown}
			a := get(ev)
			a.releases = append(a.releases, r)
			open[ev.Client] = r
		case ev.Kind == history.KindReturn:
			open[ev.Client].ret, open[ev.Client].result = now, ev.Result
		case ev.Kind == history.KindRenew:
			a := get(ev)
			a.renewals, a.renewedAt = append(a.renewals, *ev), append(a.renewedAt, i)
		case ev.Kind == history.KindLost:
			a := get(ev)
			a.lost = min(a.lost, ev.At)
		case ev.Kind == history.KindRead || ev.Kind == history.KindWrite:
			w.accesses = append(w.accesses, *ev)
		case ev.Kind == history.KindSilent:
			w.silences = append(w.silences, stretch{ev.Worker, ev.Call, ev.At})
		case ev.Kind == history.KindDead:
			if _, ok := w.deaths[ev.Worker]; !ok {
				w.deaths[ev.Worker] = ev.At
			}
		case ev.Kind == history.KindFault && ev.Phase == "strike":
			w.faults = append(w.faults, stretch{ev.Name, ev.At, never})
		case ev.Kind == history.KindFault && ev.Phase == "healed":
			for j := range w.faults { // the last that is not healed yet
				if f := &w.faults[len(w.faults)-1-j]; f.name == ev.Name && f.to == never {
					f.to = ev.At
					break
				}
			}
		case ev.Kind == history.KindEnd:
			w.end = ev.At
		}
	}
	slices.SortFunc(w.accesses, func(a, b history.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return w
}

// lease is when the lease of a ends, as it was known at an instant: "A renewal moves the
// end to its own until, never back; the first renewal of a grant without an end gives it
// one." What it proves is "counted without the renewals that were confirmed after the call
// of a release that may have had an effect"; what its client believes is not.
func (a *hold) lease() lb.Instant { return a.leaseWith(never, a.provenBefore) }

// believed is what the client knows of it at an instant: each renewal counts.
func (a *hold) believed(asOf lb.Instant) lb.Instant {
	return a.leaseWith(asOf, func(int) bool { return true })
}

func (a *hold) leaseWith(asOf lb.Instant, counts func(renewal int) bool) lb.Instant {
	end := a.until
	if end == 0 {
		end = never
	}
	for i, r := range a.renewals {
		if r.At > asOf || !counts(i) {
			continue
		}
		if end == never {
			end = r.Until
		}
		end = max(end, r.Until)
	}
	return end
}

// provenBefore: a renewal came before each release that may have had an effect. At one t
// that is as the lines stand if its own client sent the release; else it did not.
func (a *hold) provenBefore(i int) bool { return a.before(i, true) }

// maybeBefore: it may have come before those of others at its t.
func (a *hold) maybeBefore(i int) bool { return a.before(i, false) }

func (a *hold) before(i int, othersFirst bool) bool {
	r, at := a.renewals[i], a.renewedAt[i]
	return !slices.ContainsFunc(a.releases, func(g *giveBack) bool {
		if g.client != r.Client && r.At == g.call.t {
			return g.result != lb.AnswerFailed && othersFirst
		}
		return g.result != lb.AnswerFailed && g.call.at < at
	})
}

// mayEnd is the first instant at which a may have ended without a release.
func (w *world) mayEnd(a *hold) lb.Instant {
	if !a.granted() {
		return never
	}
	return min(a.lease(), a.lost, w.deadOf(a.client), a.leaseWith(never, a.maybeBefore))
}

// each calls f with every stretch of time in which nothing changes. Its middle, doubled,
// is the sum of its ends.
func (w *world) each(f func(from, to lb.Instant)) {
	var grid []lb.Instant
	for _, ev := range w.events {
		grid = append(grid, ev.At, ev.Until, ev.Call)
	}
	grid = append(grid, slices.Max(append(grid, 0))+10) // time goes on
	slices.Sort(grid)
	grid = slices.Compact(grid)
	for i := 1; i < len(grid); i++ {
		f(grid[i-1], grid[i])
	}
}

// of are the acquisitions of one lock.
func (w *world) of(lock string) (found []*hold) {
	for _, a := range w.acqs {
		if a.lock == lock {
			found = append(found, a)
		}
	}
	return found
}

// every judges each lock apart: one that is invalid makes the layer invalid.
func (w *world) every(valid func([]*hold) bool) checker.Verdict {
	for _, lock := range w.locks {
		if !valid(w.of(lock)) {
			return checker.Invalid
		}
	}
	return checker.Valid
}
