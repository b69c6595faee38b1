package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// Online watches a run while it goes on for the obvious violations: a lock granted
// while another client relies on it, by its own lease and all that it has done, and an
// update that was lost in the plain copy of the store. It is for stopping a long run at
// the first; [Check] finds the rest at the end. What it reports is never wrong, if
// events come in the order of their time, give or take Slack; of its cause it tells what
// is known by then.
//
// An event costs no allocation once the locks have been seen. Not for several
// goroutines at once. The zero value is ready.
type Online struct {
	// Slack is how far behind the others an event may come; a violation is
	// reported that much later.
	Slack time.Duration

	start    lb.Instant
	begun    bool
	names    []string
	holds    [][]openHold // by lock, in the order of names
	numbers  map[string]int
	clients  map[string]caller // those of which more is known than the name
	suspects []suspect
	faults   []history.Fault
}

// openHold is a grant and what ends it, Forever while nothing is known to.
type openHold struct {
	id, client string
	lock       int
	shared     bool
	granted    lb.Instant
	lease      history.Lease
	end        lb.Instant // by a release, a loss or a death
}

func (h *openHold) over() lb.Instant { return min(h.lease.End, h.end) }

// clashes reports whether the two are held at once, by what is known so far.
// Touching is allowed.
func (h *openHold) clashes(o *openHold) bool {
	at := max(h.granted, o.granted)
	return h.over() > at && o.over() > at && h.client != o.client && !(h.shared && o.shared)
}

// suspect is a pair of grants that is a violation, unless an event that is still
// to come ends one of them in time.
type suspect struct {
	first, second openHold
	at            lb.Instant
}

// Event takes the next event and returns a violation that has become certain with
// it, or nil. The event is not kept. Confirmed says whether porcupine agreed.
func (o *Online) Event(ev *history.Event) *Finding {
	if !o.begun {
		o.begun, o.start, o.numbers, o.clients = true, ev.At, map[string]int{}, map[string]caller{}
	}
	f := o.take(ev)
	if f != nil {
		f.Sentence += faultsDuring(o.faults, span{From: f.From, To: ev.At}, o.start)
	}
	return f
}

func (o *Online) take(ev *history.Event) *Finding {
	switch {
	case ev.Kind == history.KindCall:
		o.called(ev)
	case ev.Kind == history.KindFault:
		o.struck(ev)
	}
	switch {
	case ev.Kind == history.KindReturn && ev.Op == history.OpAcquire && ev.Result == lb.AnswerOK:
		o.grant(ev)
	case ev.Kind == history.KindCall && ev.Op == history.OpRelease, ev.Kind == history.KindLost:
		o.ended(ev)
	case ev.Kind == history.KindRenew:
		o.renewed(ev)
	case ev.Kind == history.KindDead:
		o.died(ev)
	case ev.Kind == history.KindWrite && ev.Copies != nil && ev.Copies.Plain.Result == history.Landed && ev.Copies.Plain.Base != ev.Copies.Plain.Value:
		return o.stale(ev)
	}
	return o.certain(ev.At)
}

// caller is what a client said of itself in a call: its process, and whether its last
// acquire was a shared one.
type caller struct {
	worker string
	shared bool
}

func (o *Online) called(ev *history.Event) {
	c := o.clients[ev.Client]
	now := caller{cmp.Or(c.worker, ev.Worker), c.shared}
	if ev.Op == history.OpAcquire {
		now.shared = ev.Shared
	}
	if now != c {
		now.worker = strings.Clone(now.worker)
		o.clients[strings.Clone(ev.Client)] = now
	}
}

// struck notes a fault, as [history.Index] does.
func (o *Online) struck(ev *history.Event) {
	if ev.Phase == history.PhaseStrike {
		o.faults = append(o.faults, history.Fault{Name: strings.Clone(ev.Name), Struck: true, Strike: ev.At, Healed: Forever})
		return
	}
	for i := len(o.faults) - 1; i >= 0 && ev.Phase == history.PhaseHealed; i-- {
		if f := &o.faults[i]; f.Name == ev.Name && f.Healed == Forever {
			f.Healed, f.Note = ev.At, strings.Clone(ev.Note)
			return
		}
	}
}

// stale tells of a write over another than its base. Whose fault it was is known where
// its client had no right to it any more.
func (o *Online) stale(ev *history.Event) *Finding {
	f := &Finding{Layer: LayerStore, Lock: strings.Clone(ev.Lock), At: ev.At, From: ev.At, To: ev.At, IDs: []string{strings.Clone(ev.ID)}}
	c := ev.Copies.Plain
	f.Sentence = fmt.Sprintf("%s wrote %d over %d at %s: it had read %d", ev.Client, c.New, c.Value, secondsSince(ev.At, o.start), c.Base)
	for _, h := range o.holds[o.number(ev.Lock)] {
		if h.id != ev.ID || h.client != ev.Client {
			continue
		}
		f.From = h.granted
		switch over := h.over(); {
		case over >= ev.At.Add(-o.Slack): // a renewal may still come
		case over == h.end:
			f.Mechanism = lb.Overstay
			f.Sentence += ", and it had learned at " + secondsSince(over, o.start) + " that its lock was lost"
		default:
			f.Mechanism = lb.Overstay
			f.Sentence += ", and its lease had ended at " + secondsSince(over, o.start)
		}
	}
	return f
}

// number finds or makes the number of a lock.
func (o *Online) number(lock string) int {
	n, ok := o.numbers[lock]
	if !ok {
		n = len(o.names)
		lock = strings.Clone(lock)
		o.numbers[lock] = n
		o.names, o.holds = append(o.names, lock), append(o.holds, nil)
	}
	return n
}

func (o *Online) grant(ev *history.Event) {
	lock := o.number(ev.Lock)
	h := openHold{id: ev.ID, client: ev.Client, lock: lock, shared: o.clients[ev.Client].shared, granted: ev.At, lease: history.NewLease(ev.Until), end: Forever}
	expired := ev.At.Add(-o.Slack)
	// What has ended is kept until its client goes on: it may still write.
	holds := slices.DeleteFunc(o.holds[lock], func(h openHold) bool { return h.client == ev.Client && h.over() <= expired })
	o.holds[lock] = append(holds, h)
	o.meet(&h)
}

// meet looks for the holds that clash with one that begins.
func (o *Online) meet(h *openHold) {
	for i := range o.holds[h.lock] {
		if other := &o.holds[h.lock][i]; other.clashes(h) {
			o.suspects = append(o.suspects, suspect{*other, *h, max(other.granted, h.granted)})
		}
	}
}

// ended takes the end of a hold, by its client's own release or its loss.
func (o *Online) ended(ev *history.Event) {
	lock := o.number(ev.Lock)
	its := func(h *openHold) bool { return h.lock == lock && h.id == ev.ID && h.client == ev.Client }
	for i := range o.holds[lock] {
		h := &o.holds[lock][i]
		if !its(h) {
			continue
		}
		if ev.Kind == history.KindLost { // it may still write
			h.end = min(h.end, ev.At)
		} else {
			o.holds[lock] = slices.Delete(o.holds[lock], i, i+1)
		}
		break
	}
	o.acquit(ev.At, its)
}

// renewed moves the end of a lease; nothing can move it back. One that had ended begins
// again.
func (o *Online) renewed(ev *history.Event) {
	holds := o.holds[o.number(ev.Lock)]
	for i := range holds {
		h := &holds[i]
		switch {
		case h.id != ev.ID:
		case ev.At > h.lease.End:
			h.granted, h.lease = ev.At, history.NewLease(ev.Until)
			o.meet(h)
		default:
			h.lease.Renew(ev.Until)
		}
	}
}

// died ends everything that clients of a killed process held.
func (o *Online) died(ev *history.Event) {
	of := func(h *openHold) bool {
		return cmp.Or(o.clients[h.client].worker, history.WorkerName(h.client)) == ev.Worker
	}
	for lock := range o.holds {
		o.holds[lock] = slices.DeleteFunc(o.holds[lock], func(h openHold) bool { return of(&h) })
	}
	o.acquit(ev.At, of)
}

// acquit takes the end of a hold into account that clashed, as far as was known.
func (o *Online) acquit(at lb.Instant, ends func(*openHold) bool) {
	for i := 0; i < len(o.suspects); i++ {
		s := &o.suspects[i]
		for _, h := range []*openHold{&s.first, &s.second} {
			if ends(h) {
				h.end = min(h.end, at)
			}
		}
		if !s.first.clashes(&s.second) {
			o.suspects = slices.Delete(o.suspects, i, i+1)
			i--
		}
	}
}

// certain reports the earliest clash that no event after now can undo.
func (o *Online) certain(now lb.Instant) *Finding {
	for i := range o.suspects {
		if s := o.suspects[i]; s.at < now.Add(-o.Slack) {
			o.told(s)
			return o.finding(s)
		}
	}
	return nil
}

// told forgets the first of the two holds: what else clashes with it is the same
// violation.
func (o *Online) told(s suspect) {
	id, lock := s.first.id, s.first.lock
	o.holds[lock] = slices.DeleteFunc(o.holds[lock], func(h openHold) bool { return h.id == id })
	o.suspects = slices.DeleteFunc(o.suspects, func(t suspect) bool {
		return t.first.lock == lock && (t.first.id == id || t.second.id == id)
	})
}

func (o *Online) finding(s suspect) *Finding {
	if s.second.granted < s.first.granted {
		s.first, s.second = s.second, s.first
	}
	var ops []Op
	for i, h := range []openHold{s.first, s.second} {
		ops = append(ops, Op{Call: h.granted, Return: h.granted, ID: int32(i), Kind: Acquire, Shared: h.shared},
			Op{Call: h.over(), Return: Forever, ID: int32(i), Kind: Expire, Result: Unknown})
	}
	since := func(t lb.Instant) string { return secondsSince(t, o.start) }
	lock := o.names[s.first.lock]
	sentence := s.second.client + " was granted " + theLock(o.names, lock) + " at " + since(s.at) +
		" while " + s.first.client + " held it since " + since(s.first.granted)
	if s.first.lease.End < Forever {
		sentence += ", by its lease until " + since(s.first.lease.End)
	}
	return &Finding{Layer: LayerBelief, Mechanism: lb.DoubleGrant, Sentence: sentence, Lock: lock,
		At: s.at, From: s.first.granted, To: s.at, IDs: []string{s.first.id, s.second.id},
		Confirmed: Linearizable(ops, 1, confirmTime) == porcupine.Illegal}
}
