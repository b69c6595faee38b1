package explore

import (
	"encoding/json"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// place is what the judges need to know of a client's past beside its own sequence of events: how its grants lie
// to those of others. A grant begins when it is heard of. It ends when its release is called, when the client
// learns that it is lost or dies, or when its lease is over. Two overlap if each begins before the other ends; so an end is
// placed by how much had begun for others, and a beginning needs no place. What is only known to have been
// at some instant begins with its call, and ends with its return.
type place struct {
	begun int // grants, releases of what nobody knows to be granted, and leases that came to life again
	// holds: the client has been granted the lock, and has not called release, until when its lease ends.
	holds bool
	until lb.Instant
	// asks: a call is under way. Its place, and that of a leap in it, matter only for some of its ends.
	asks   string
	called []int
	leapt  []int
}

// begunBy counts what has begun for others. The lock is held.
func (o *order) begunBy(others *client) (all []int) {
	for _, c := range o.clients {
		if c != others {
			all = append(all, c.place.begun)
		}
	}
	return all
}

// lapses notes, before time leaps, whose lease is over then. The lock is held.
func (o *order) lapses() {
	for _, c := range o.clients {
		t := &c.place
		if t.holds && t.until != 0 && !t.over(o.last) {
			c.known.add("over", o.begunBy(c))
		}
		if t.asks == history.OpAcquire {
			t.leapt = o.begunBy(c)
		}
	}
}

// over reports whether the lease had ended by then.
func (t *place) over(at lb.Instant) bool { return t.until != 0 && t.until <= at }

// notes has an event be known. The lock is held.
func (o *order) notes(ev history.Event) {
	name := ev.Client
	if name == "" {
		name = ev.Worker
	}
	i := slices.IndexFunc(o.clients, func(c *client) bool { return c.name == name })
	if i < 0 || ev.Kind == history.KindSilent {
		return
	}
	c := o.clients[i]
	t := &c.place
	copies, _ := json.Marshal(ev.Copies)
	what := []any{ev.Kind, ev.Op, ev.ID, ev.Shared, ev.Result, ev.Token, ev.Requests, ev.Name, ev.Error, string(copies)}
	placed := func() { what = append(what, o.begunBy(c)) }
	switch ev.Kind {
	case history.KindCall:
		t.asks, t.called, t.leapt = ev.Op, o.begunBy(c), nil
		if ev.Op == history.OpRelease && t.holds && !t.over(ev.At) {
			placed() // the client relies on it no more
		}
	case history.KindReturn:
		what = append(what, t.returns(ev, o.e.info.Traits.Fenced)...)
	case history.KindRenew:
		if t.over(ev.At) {
			placed()
			t.begun++
		}
		t.until = ev.Until
	case history.KindLost, history.KindDead:
		if t.holds && !t.over(ev.At) {
			placed()
		}
		t.holds = false
	case history.KindRead, history.KindWrite:
		if ev.Kind == history.KindWrite || ev.Token != 0 { // else the store is as it was
			o.past.store.add(c.name, c.known.moves, ev.Kind)
		}
	}
	c.known.add(what...)
}

// returns notes the end of a call, and says how that lies to what others did, as far as it matters: not where
// the lock is refused, or granted for some time to come, unless its tokens are to rise; nor of a release, where the client knows
// that it was granted the lock.
func (t *place) returns(ev history.Event, fenced bool) (placed []any) {
	granted := ev.Op == history.OpAcquire && ev.Result == lb.AnswerOK
	held, called, leapt := t.holds, t.called, t.leapt
	t.holds, t.asks, t.called, t.leapt = false, "", nil, nil
	if granted {
		t.holds, t.until = true, ev.Until
	}
	switch {
	case ev.Result == lb.AnswerFailed, ev.Op == history.OpRelease && held:
		return nil
	case granted && !t.over(ev.At) && !fenced:
	default:
		placed = []any{called, leapt, granted && t.over(ev.At)}
	}
	t.begun++
	return placed
}
