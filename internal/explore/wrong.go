package explore

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

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
		sessions, before := c.alone.Sessions(), c.drops()
		knew, err := o.e.endSessions(ctx, sessions)
		if err != nil {
			return err
		}
		if knew > 0 && !o.e.apart {
			o.learns(ctx, c, sessions, before)
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

// drops is how many connections of the client's have ended.
func (c *client) drops() (n int) {
	for _, r := range c.relays {
		n += r.drops()
	}
	return n
}

// learns returns when the client knows that these sessions are over: all is quiet for some milliseconds
// after a server has said so, and on a busy machine for longer. The server ends the connection; ZooKeeper
// does so twice, since a client comes back in the session while somebody else ends it. What the client
// does then is to begin another session, or to give up, and then it stands.
func (o *order) learns(ctx context.Context, c *client, sessions []string, drops int) {
	open := func() bool { return c.drops() == drops }
	if o.e.quorum {
		var old []net.Conn
		for _, r := range c.relays {
			old = append(old, r.open()...)
		}
		open = func() bool {
			return slices.ContainsFunc(c.relays, func(r *relay) bool {
				return slices.ContainsFunc(r.open(), func(conn net.Conn) bool { return slices.Contains(old, conn) })
			})
		}
	}
	began := time.Now()
	same := func() bool { return slices.Equal(c.alone.Sessions(), sessions) }
	wait := func(bound time.Duration, while func() bool) {
		for ctx.Err() == nil && time.Since(began) < bound && same() && while() {
			nap(look)
		}
	}
	wait(farTooLong, open)
	wait(farTooLong, func() bool { return !o.stands(c) })
	wait(rests, func() bool { return !o.stands(c) && o.away() })
}

// stands reports whether the client stands at a step, or has nothing to do.
func (o *order) stands(c *client) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(c.holds) > 0 || c.main == resting
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
