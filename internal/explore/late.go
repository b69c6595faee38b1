package explore

import (
	"context"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// flight is a request whose answer matters when it is heard.
type flight struct {
	move    Move
	answers int  // that had come before it
	heard   bool // its answer was, so that nobody need stand there again
}

// flies notes that a request is let go. The lock is held.
func (c *client) flies(h *hold) {
	delete(c.flying, h.actor)
	if len(c.relays) == 1 && c.heeds(h.actor) {
		c.flying[h.actor] = &flight{move: Move{c.name, Hears, h.move.What}, answers: c.relays[0].answered()}
	}
}

// heeds reports whether it matters when the actor hears an answer. The lock is held.
func (c *client) heeds(actor lb.Actor) bool {
	return c.order.hears() && (c.acquiring || actor == lb.Renewal)
}

// lands reports whether the actor has heard the answer to its request already, and ends its flight. The
// lock is held.
func (c *client) lands(actor lb.Actor) bool {
	f := c.flying[actor]
	delete(c.flying, actor)
	return f != nil && f.heard
}

// look holds who looks at the clock in the instant of an answer, before any step: a late answer is
// later than that.
func (c *client) look() {
	o := c.order
	o.mu.Lock()
	for _, actor := range []lb.Actor{lb.Main, lb.Renewal} {
		if f := c.flying[actor]; f != nil && !f.heard && !o.free && !c.dead && c.byItself(actor) && c.relays[0].answered() > f.answers {
			f.heard = true
			h := &hold{move: f.move, actor: actor, open: make(chan error, 1), ctx: context.Background()}
			c.holds = append(c.holds, h)
			if actor == lb.Renewal {
				c.behind--
			}
			o.change()
			o.mu.Unlock()
			<-h.open
			return
		}
	}
	o.mu.Unlock()
}

// byItself reports whether nobody but the actor is known to be at work in the client: a clock isn't told
// who looks at it, and programs don't say when they renew. The lock is held.
func (c *client) byItself(actor lb.Actor) bool {
	if actor == lb.Renewal {
		return c.behind == 1 && (c.main != running || slices.ContainsFunc(c.holds, func(h *hold) bool { return h.actor != lb.Renewal }))
	}
	return c.behind == 0
}
