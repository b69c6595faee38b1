package explore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/workloads"
)

// client is one that is explored: a session of its own, reached through relays of its own. It is
// in one order after the other, as long as nothing goes wrong with it.
type client struct {
	name   string
	relays []*relay
	alone  *worker.Alone
	info   lb.Info
	steps  map[string]step

	died, ended chan struct{} // closed when it has died, and when it has done all that it had to do in the order

	// All that follows is guarded by the order's lock.
	order *order
	known known
	place place

	dead      bool
	spoilt    bool  // it can't be in another order
	main      state // of who calls the lock
	behind    int   // goroutines that work beside it, and can't be seen to stand
	holds     []*hold
	pauses    []func() // end them, of who sleeps until the scheduler says otherwise
	waits     []*wait
	first     bool // the next request is the first of a try
	acquiring bool // the lock
	quits     bool // its caller has given up meanwhile
	quit      func()
	flying    map[lb.Actor]*flight
	polls     int  // of this acquisition
	sent      int  // requests for it, while it is asked for
	extended  int  // requests of renewals, since a lease's time has passed
	retries   int  // since time has passed, in what comes after an order
	renewed   int  // times that its renewals were due, in this order
	due       bool // a renewal's time has come, and none of its requests was let go
	began     Move // the first request of the last try
	tried     int  // what others had done that may have changed something, when it last began to try
	changed   bool // it has changed something itself since then, of which nobody can say that it does not count
}

// state is what who calls the lock is at, unless it stands at a step.
type state int

const (
	resting state = iota // between two orders, or for good
	running
	waiting // for a server
)

type step struct {
	kind Kind
	name string
}

// steps are those that are moves.
func steps(info lb.Info) map[string]step {
	all := map[string]step{workloads.StepGranted: {Reads, ""}, workloads.StepWork: {Works, ""}}
	for _, r := range info.Requests {
		all[lb.Before(r)] = step{Sends, r}
		all[lb.After(r)] = step{Hears, r}
	}
	return all
}

// hold is somebody who stands at a step, or is about to call the lock.
type hold struct {
	move   Move
	actor  lb.Actor
	server int             // its place, from 1; 0 where there is but one
	again  bool            // it has asked, and would ask once more
	first  bool            // of a try, as are all that are sent together until one is let go
	open   chan error      // nil: go on
	ctx    context.Context // ends when who stands there gives up; never where it must hear
}

// leaves reports whether who stands there gives up just now.
func (h *hold) leaves() bool { return h.ctx.Err() != nil }

// probe is the client's own, with a scheduler in front of it.
type probe struct {
	lb.Probe
	of *client
}

// Session implements [lb.SessionProbe].
func (p probe) Session(name string) { p.Probe.(lb.SessionProbe).Session(name) }

// Step implements [lb.Probe].
func (p probe) Step(ctx context.Context, m lb.Move) error {
	if err := p.Probe.Step(ctx, m); err != nil {
		return err
	}
	return p.of.step(ctx, m)
}

// Wait implements [lb.Probe].
func (p probe) Wait(ctx context.Context, m lb.Move) func() {
	over, left := p.Probe.Wait(ctx, m), p.of.wait(ctx, m)
	return func() {
		left()
		over()
	}
}

// Go implements [lb.Probe].
func (p probe) Go(as lb.Actor) func() {
	if as != lb.Renewal {
		return p.Probe.Go(as)
	}
	end := p.of.beside()
	return func() { end() }
}

var errDead = errors.New("the client has died")

// step holds who calls it until the scheduler lets it go.
func (c *client) step(ctx context.Context, m lb.Move) error {
	s, ok := c.steps[m.Name]
	o := c.order
	o.mu.Lock()
	if c.dead {
		o.mu.Unlock()
		return errDead
	}
	heard := c.lands(m.Actor)
	if !ok || o.free || !strings.HasPrefix(m.Lock, o.prefix()) || s.kind == Hears && (heard || !c.heeds(m.Actor)) {
		o.mu.Unlock()
		return ctx.Err()
	}
	h := &hold{move: Move{Client: c.name, Do: s.kind, What: s.name}, actor: m.Actor, open: make(chan error, 1), ctx: ctx}
	if s.kind == Hears {
		h.ctx = context.WithoutCancel(ctx)
	}
	if m.Actor == lb.Renewal {
		h.move.What = renewals + h.move.What
	}
	switch {
	case m.Server > 0 && len(c.relays) > 1:
		h.move.What += toServer + strconv.Itoa(m.Server)
		h.server = m.Server
	case m.Server > 0:
		h.move.What += ofKey + strconv.Itoa(m.Server)
	}
	if s.kind == Sends && m.Actor == lb.Main {
		h.first, c.first = c.first, false
		for _, together := range c.holds {
			h.first = h.first || together.first
		}
	}
	o.e.volleys = o.e.volleys || slices.ContainsFunc(c.holds, func(other *hold) bool { return (other.actor == lb.Renewal) == (m.Actor == lb.Renewal) })
	c.holds = append(c.holds, h)
	if m.Actor == lb.Renewal {
		c.behind--
	}
	o.change()
	o.mu.Unlock()
	return c.stand(ctx, h)
}

// calls holds whoever is about to call the lock, or to try once more: the clock that it reads next is
// that of the moment in which it is let go.
func (c *client) calls(ctx context.Context, what string) error {
	o := c.order
	o.mu.Lock()
	if c.dead || o.free {
		o.mu.Unlock()
		return cmp.Or(ctx.Err(), errOver)
	}
	h := &hold{move: Move{c.name, Calls, what}, actor: lb.ActorOf(ctx), again: what == tryAgain, open: make(chan error, 1), ctx: ctx}
	c.holds = append(c.holds, h)
	o.change()
	o.mu.Unlock()
	return c.stand(ctx, h)
}

// What is called, beside what a worker's client calls.
const (
	tryAgain = "acquire once more"
	renew    = "renew"
)

// stand waits until the hold is let go, or whoever stands there gives up.
func (c *client) stand(ctx context.Context, h *hold) error {
	o := c.order
	select {
	case err := <-h.open:
		return err
	case <-h.ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(c.holds, h); i >= 0 { // else it was let go just now
		c.letGo(i, nil)
	}
	<-h.open
	return ctx.Err()
}

// letGo lets the hold go on, with an error if it must not. The lock is held.
func (c *client) letGo(i int, err error) {
	h := c.holds[i]
	c.holds = slices.Delete(c.holds, i, i+1)
	if h.actor == lb.Renewal {
		c.behind++
	}
	h.open <- err
	c.order.change()
}

// beside notes that something works beside the client, until it ends.
func (c *client) beside() (end func()) {
	o := c.order
	o.mu.Lock()
	defer o.mu.Unlock()
	c.behind++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		c.behind--
		o.change()
	}
}

// record takes an event of the client's.
func (c *client) record(ev history.Event) { c.order.record(c, ev) }

func (c *client) close() {
	c.alone.Close()
	for _, r := range c.relays {
		r.close()
	}
}
