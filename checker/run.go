package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// run is one history, indexed once for all layers.
type run struct {
	opts       Options
	plan       lockbench.Plan
	start, end lockbench.Instant // of the run; end is the end event, or the last event
	last       lockbench.Instant

	acqs   []*acquisition // in the order of their first event
	byID   map[acqKey]*acquisition
	locks  []string // in the order of their first event
	lockNo map[string]int
	access []*lockbench.Event
	silent map[string][]span
	dead   map[string]lockbench.Instant
	faults []lockbench.Event
	steps  map[string]string // acquisition id -> the last step it was caught at
	notes  []string

	// What layers measure beside their verdicts.
	copies              map[string]lockbench.Copy
	outage              lockbench.Instant
	sections, contended int
	// Waits that ended by a server's push or by the polling delay, and requests
	// to servers that acquires and releases sent.
	wakes, polls, requests int
}

// retryDelay is the name of the waits of algorithms that poll.
const retryDelay = "retry-delay"

type acqKey struct{ lock, id string }

// span is a stretch of time; touching spans do not overlap.
type span struct{ from, to lockbench.Instant }

func (s span) overlaps(o span) bool { return s.from < o.to && o.from < s.to }

// acquisition is everything that happened under one id.
type acquisition struct {
	id, client, lock string
	shared           bool
	asked            int               // acquire calls; more than one means that the id was reused
	call             lockbench.Instant // of the acquire
	ret              lockbench.Instant // of the acquire; Forever when none was recorded
	result           lockbench.Result
	token            uint64
	until            lockbench.Instant // 0: none
	renews           []renewal
	releases         []attempt
	lost, dead       lockbench.Instant // Forever: not
	validity, belief []span            // what the leases allow, and what is left of it by release and death
}

type renewal struct{ at, until lockbench.Instant }

// attempt is one release.
type attempt struct {
	call, ret lockbench.Instant // ret is Forever when none was recorded
	result    lockbench.Result
}

func (a *acquisition) granted() bool { return a.asked > 0 && a.result == lockbench.OK }

// owner is who must not hold a lock together with another: the client, or the
// acquisition itself in histories that name no clients.
func (a *acquisition) owner() string {
	if a.client != "" {
		return a.client
	}
	return a.id
}

// released is the call of the first release, Forever if there is none.
func (a *acquisition) released() lockbench.Instant {
	if len(a.releases) == 0 {
		return Forever
	}
	return a.releases[0].call
}

func newRun(o Options, plan lockbench.Plan) *run {
	return &run{opts: o, plan: plan,
		byID: map[acqKey]*acquisition{}, lockNo: map[string]int{}, silent: map[string][]span{},
		dead: map[string]lockbench.Instant{}, steps: map[string]string{}}
}

func (r *run) load(h lockbench.History) {
	if len(h) == 0 {
		return
	}
	events := make([]*lockbench.Event, len(h)) // an event is large; moving pointers is not
	for i := range h {
		events[i] = &h[i]
	}
	byTime := func(a, b *lockbench.Event) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(events, byTime) {
		slices.SortStableFunc(events, byTime)
	}
	r.start, r.last = events[0].At, events[len(events)-1].At
	r.end = r.last
	for _, e := range events {
		r.take(e)
	}
	slices.SortStableFunc(r.access, func(a, b *lockbench.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, a := range r.acqs {
		a.dead = Forever
		if t, ok := lookup(r.dead, a.client); ok && t >= a.call {
			a.dead = t
		}
		a.believe()
	}
	r.sections, r.contended = r.countSections(), r.countContended()
}

func (r *run) take(e *lockbench.Event) {
	switch e.Kind {
	case lockbench.KindCall:
		r.takeCall(e)
	case lockbench.KindReturn:
		r.takeReturn(e)
	case lockbench.KindRenew:
		if a := r.acq(e); !r.opts.Strict {
			a.renews = append(a.renews, renewal{e.At, r.deadline(e)})
		}
	case lockbench.KindLost:
		if a := r.acq(e); !r.opts.Strict {
			a.lost = min(a.lost, e.At)
		}
	case lockbench.KindRead, lockbench.KindWrite:
		r.access = append(r.access, e)
	case lockbench.KindWake:
		if e.Name != retryDelay {
			r.wakes++
		} else {
			r.polls++
		}
	case lockbench.KindStep:
		r.steps[e.ID] = e.Name
	case lockbench.KindSilent:
		r.silent[e.Worker] = append(r.silent[e.Worker], span{e.Call, e.At})
	case lockbench.KindDead:
		if _, ok := r.dead[e.Worker]; !ok {
			r.dead[e.Worker] = e.At
		}
	case lockbench.KindFault:
		r.faults = append(r.faults, *e)
	case lockbench.KindEnd:
		r.end = e.At
	}
}

// deadline is until when the holder may rely on a renewal. Where the history does
// not say so, the lease runs from the call of the renewal, which is before the
// server did it, less the drift that the clients' own deadlines allow for.
func (r *run) deadline(e *lockbench.Event) lockbench.Instant {
	if e.Until != 0 || e.Call == 0 || !r.plan.Leased || r.plan.TTL <= 0 {
		return e.Until
	}
	return (&lockbench.Env{TTL: r.plan.TTL}).Validity(e.Call)
}

// acq finds or makes the acquisition of an event.
func (r *run) acq(e *lockbench.Event) *acquisition {
	key := acqKey{e.Lock, e.ID}
	if a, ok := r.byID[key]; ok {
		return a
	}
	a := &acquisition{id: e.ID, client: e.Client, lock: e.Lock, shared: e.Shared, ret: Forever,
		result: lockbench.Unknown, lost: Forever, dead: Forever}
	r.byID[key] = a
	r.acqs = append(r.acqs, a)
	if _, ok := r.lockNo[e.Lock]; !ok {
		r.lockNo[e.Lock] = len(r.locks)
		r.locks = append(r.locks, e.Lock)
	}
	return a
}

func (r *run) takeCall(e *lockbench.Event) {
	a := r.acq(e)
	switch e.Op {
	case lockbench.OpAcquire:
		if a.asked++; a.asked == 1 {
			a.call, a.client, a.shared = e.At, e.Client, e.Shared
		}
	case lockbench.OpRelease:
		a.releases = append(a.releases, attempt{e.At, Forever, lockbench.Unknown})
	}
}

func (r *run) takeReturn(e *lockbench.Event) {
	a := r.acq(e)
	r.requests += e.Requests
	switch e.Op {
	case lockbench.OpAcquire:
		if a.asked == 0 { // its call is missing: it may have been sent at any time before
			a.asked, a.call = 1, r.start
			r.note("acquire %q of %s returned without a call", e.ID, e.Client)
		}
		if a.ret != Forever {
			return
		}
		a.ret, a.result, a.token, a.until = e.At, e.Result, e.Token, e.Until
		if a.shared = a.shared || e.Shared; r.opts.Strict {
			a.until = 0
		}
	case lockbench.OpRelease:
		for i := range a.releases {
			if a.releases[i].ret == Forever {
				a.releases[i].ret, a.releases[i].result = e.At, e.Result
				return
			}
		}
		r.note("release %q of %s returned without a call", e.ID, e.Client)
		a.releases = append(a.releases, attempt{r.start, e.At, e.Result})
	}
}

func (r *run) note(format string, args ...any) {
	if len(r.notes) < keep {
		r.notes = append(r.notes, fmt.Sprintf(format, args...))
	}
}

// acqOf finds the acquisition under which the store was accessed, or nil.
func (r *run) acqOf(e *lockbench.Event) *acquisition { return r.byID[acqKey{e.Lock, e.ID}] }

// lookup finds what m says of a client's worker process: clients are named
// "worker.…".
func lookup[V any](m map[string]V, client string) (V, bool) {
	for i := range len(client) {
		if client[i] == '.' {
			if v, ok := m[client[:i]]; ok {
				return v, true
			}
		}
	}
	var none V
	return none, false
}

// frozen finds the longest silence of the client's process that overlaps s.
func (r *run) frozen(client string, s span) (span, bool) {
	var longest span
	all, _ := lookup(r.silent, client)
	for _, q := range all {
		if q.overlaps(s) && q.to-q.from > longest.to-longest.from {
			longest = q
		}
	}
	return longest, longest.to > longest.from
}

// perLock groups the acquisitions that match by lock, in the order of r.locks.
func (r *run) perLock(match func(*acquisition) bool) [][]*acquisition {
	groups := make([][]*acquisition, len(r.locks))
	for _, a := range r.acqs {
		if match(a) {
			i := r.lockNo[a.lock]
			groups[i] = append(groups[i], a)
		}
	}
	return groups
}

// clientNames lists who asked for locks, sorted.
func clientNames(acqs []*acquisition) []string {
	var names []string
	for _, a := range acqs {
		names = append(names, a.owner())
	}
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}
