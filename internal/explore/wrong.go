package explore

import (
	"context"
	"sync"

	"github.com/lockbench/lockbench/history"
)

// lose has the next answer of a server be lost, or of any, where nobody knows which it will be.
func (c *client) lose(server int) {
	lost := &sync.Once{}
	for i, r := range c.relays {
		if server == 0 || server == i+1 {
			r.lose(lost)
		}
	}
}

// end lets a lease's time pass, unless somebody ends a session before that, and has the server end what
// ends then.
func (o *order) end(ctx context.Context, m Move) error {
	what := "the session is ended"
	if m.Do == Expires {
		what = "a lease's time passes"
	}
	o.act(what, m.Client, history.PhaseBegin)
	if m.Do == Expires {
		if err := o.e.leap(lapse); err != nil {
			return err
		}
	}
	if m.Client != "" {
		c := o.client(m.Client)
		c.spoilt = true
		if err := o.e.endSessions(ctx, c, c.alone.Sessions()); err != nil {
			return err
		}
	}
	o.act(what, m.Client, history.PhaseEnd)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done[""]++
	for _, c := range o.clients {
		if m.Do == Expires {
			c.extended = 0
		}
	}
	o.change()
	return nil
}

// die ends the client: what it stands before does not happen, and its connections end.
func (o *order) die(m Move) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.client(m.Client)
	o.add(history.Event{Kind: history.KindDead, Worker: c.name})
	c.dead, c.spoilt = true, true
	close(c.died)
	for _, r := range c.relays {
		r.close()
	}
	for len(c.holds) > 0 {
		c.letGo(0, errDead)
	}
	c.wake()
	o.done[""]++
}

// quit has the client's caller give up, of which the lock hears.
func (o *order) quit(m Move) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.client(m.Client)
	c.quits = true
	c.quit()
	o.change()
}

// wake ends all sleep. The lock is held.
func (c *client) wake() {
	for _, end := range c.pauses {
		end()
	}
	c.pauses = nil
	for _, w := range c.waits {
		if w.ends != nil {
			c.fire(w)
		}
	}
}
