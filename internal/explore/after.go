package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// What comes after an order is not walked: everybody goes on in turn as far as he can, and when
// nobody can, time passes, more than it takes to call a lock stuck. Then somebody else asks for
// it, who has not been there. That is how an order shows a lock that nobody can have any more.
const (
	rounds   = 4   // of time that passes
	mostNext = 300 // moves, of those who ask for ever
	// mostRetries is how often each asks again before time passes: who is refused may be what
	// another takes for a reason to ask again.
	mostRetries = 4
)

// after lets the order come to its end.
func (o *order) after(ctx context.Context) error {
	if err := o.goOn(ctx); err != nil {
		return err
	}
	c, err := o.e.client(ctx, o, fmt.Sprintf("c%d", len(o.clients)+1))
	if err != nil {
		return err
	}
	o.mu.Lock()
	o.clients = append(o.clients, c)
	c.main = running
	o.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	before := o.stop
	o.stop = func() { before(); stop() }
	go c.run(ctx, o, 1)
	if err := o.settle(ctx, start); err != nil {
		return err
	}
	return o.goOn(ctx)
}

// goOn lets everybody go on until nobody can, whatever time passes.
func (o *order) goOn(ctx context.Context) error {
	turn := 0
	round := 0
	for n := 0; round <= rounds && n < mostNext; n++ {
		m, ok := o.next(&turn)
		var err error
		switch {
		case ok:
			if round == 0 && len(o.clients) == o.e.Bounds.Clients {
				o.then = append(o.then, m)
			}
			if err = o.goes(m); err == nil {
				err = o.settle(ctx, m)
			} else if errors.Is(err, errAstray) { // it has given up just now
				err = nil
			}
		case o.finished():
			return nil
		case o.late(ctx, o.e.slowest()):
		case round == rounds && o.back(ctx):
		default:
			round++
			err = o.pass(ctx)
		}
		if err != nil {
			return err
		}
	}
	if round <= rounds && !o.finished() {
		return fmt.Errorf("%w: it comes to no end", errAstray)
	}
	return nil
}

// back reports whether a driver is back whose session has ended. As long as one has no connection, it
// rests before it tries again.
func (o *order) back(ctx context.Context) bool {
	if o.e.ends != endsSessions {
		return false
	}
	const tries = 3
	for range tries {
		if o.late(ctx, rests) {
			return true
		}
		if !o.away() {
			return false
		}
	}
	return false
}

// away reports whether a client that lives, and has something to do, has no connection to any server.
func (o *order) away() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.clients, func(c *client) bool {
		return !c.dead && c.main != resting && !slices.ContainsFunc(c.relays, (*relay).connected)
	})
}

// next is what may come next of the clients in turn, without anything going wrong.
func (o *order) next(turn *int) (Move, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range o.clients {
		*turn++
		c := o.clients[*turn%len(o.clients)]
		for _, h := range c.holds {
			if h.actor == lb.Renewal && o.tooMany(c, h) {
				continue
			}
			if !h.again || o.byOthers(c) > c.tried && c.retries < mostRetries {
				if h.again {
					c.retries++
				}
				return h.move, true
			}
		}
	}
	return Move{}, false
}

// late reports whether something has come after all: what time passes on must not be a server that
// is only slow.
func (o *order) late(ctx context.Context, within time.Duration) bool {
	o.mu.Lock()
	before := o.count
	o.mu.Unlock()
	_ = o.quiet(ctx, within, false)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count != before
}

func (o *order) finished() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.clients {
		if !c.dead && c.main != resting {
			return false
		}
	}
	return true
}

// over are the sessions of which nobody speaks to the servers any more: those of the dead, and of
// the others, where a session does not end with its connection, all that were followed by another.
func (c *client) over() []string {
	all := c.alone.Sessions()
	switch {
	case c.dead:
		return all
	case c.order.e.quorum && len(all) > 0:
		return all[:len(all)-1]
	}
	return nil
}

// pass lets time pass for all: leases end that nobody renews, and the sessions of the dead.
func (o *order) pass(ctx context.Context) error {
	parts := time.Duration(1)
	if o.e.info.Traits.Renewing && !o.e.info.WallClock { // whose timers nobody moves
		parts = renewedIn
	}
	for n := range parts {
		if err := o.e.leap(lapse / parts); err != nil {
			return err
		}
		if n+1 < parts {
			if err := o.renew(ctx); err != nil {
				return err
			}
		}
	}
	for _, c := range o.clients {
		if _, err := o.e.endSessions(ctx, c.over()); err != nil {
			return err
		}
	}
	o.mu.Lock()
	o.done[""]++
	for _, c := range o.clients {
		if c.retries, c.extended = 0, 0; !c.dead {
			c.wake()
		}
	}
	o.mu.Unlock()
	return o.settle(ctx, Move{Do: Expires})
}

// renewedIn are the parts in which a lease's time passes where it is renewed: each is less than the third
// of it that all renew within.
const renewedIn = 4

// renew lets the renewals of all who live have their time, and go on as far as they can.
func (o *order) renew(ctx context.Context) error {
	o.mu.Lock()
	for _, c := range o.clients {
		if !c.dead {
			c.renew()
		}
	}
	o.mu.Unlock()
	err := o.settle(ctx, start)
	for n := 0; err == nil && n < mostNext; n++ {
		m, ok := o.renewal()
		if !ok {
			break
		}
		if err = o.let(m); errors.Is(err, errAstray) { // it has given up just now
			err = nil
		} else if err == nil {
			err = o.settle(ctx, m)
		}
	}
	return err
}

// renewal is what a renewal stands at.
func (o *order) renewal() (Move, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.clients {
		for _, h := range c.holds {
			if h.actor == lb.Renewal {
				return h.move, true
			}
		}
	}
	return Move{}, false
}

// ended is the order as a history.
func (o *order) ended() history.Events {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(history.Event{Kind: history.KindEnd})
	return o.events
}
