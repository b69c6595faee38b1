package explore

import (
	"context"
	"slices"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
)

// wait is somebody who waits for a server, and what would end that by time.
type wait struct {
	what  string
	actor lb.Actor
	ends  func() // nil where time has no say
	fired bool   // the renewal's time has come
}

// wait notes that somebody waits for a server, or for time to pass.
func (c *client) wait(ctx context.Context, m lb.Move) (left func()) {
	o := c.order
	o.mu.Lock()
	defer o.mu.Unlock()
	w := &wait{what: m.Name, actor: m.Actor}
	c.waits = append(c.waits, w)
	if m.Name == lb.RetryDelay {
		delete(c.flying, m.Actor)
	}
	if m.Actor == lb.Renewal {
		c.behind--
	} else {
		if t, ok := ctx.Value(timeoutKey{}).(*timeout); ok && m.Name != lb.RetryDelay {
			w.ends = t.over
		}
		if c.main == running {
			c.main = waiting
		}
	}
	o.change()
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		i := slices.Index(c.waits, w)
		if i < 0 {
			return
		}
		c.waits = slices.Delete(c.waits, i, i+1)
		if m.Actor == lb.Renewal {
			if !w.fired {
				c.behind++
			}
		} else if c.main != resting {
			c.main = running
		}
		o.change()
	}
}

// in is what the actor waits for, nil for nothing. The lock is held.
func (c *client) in(ctx context.Context) *wait {
	actor := lb.ActorOf(ctx)
	i := slices.IndexFunc(c.waits, func(w *wait) bool { return (w.actor == lb.Renewal) == (actor == lb.Renewal) && w.ends == nil })
	if i < 0 {
		return nil
	}
	return c.waits[i]
}

// await is told of a time that may be over. It is the scheduler's matter only where somebody
// waits for a server by it, or a renewal for its turn.
func (c *client) await(ctx context.Context, t *timeout) (forget func()) {
	o := c.order
	o.mu.Lock()
	defer o.mu.Unlock()
	w := c.in(ctx)
	if w == nil {
		return func() {}
	}
	w.ends = t.over
	o.change()
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		w.ends = nil
	}
}

// fire lets a wait's time be over. The lock is held.
func (c *client) fire(w *wait) {
	if w.actor == lb.Renewal {
		w.fired, c.due = true, true
		delete(c.flying, lb.Renewal)
		c.behind++
	}
	go w.ends()
	w.ends = nil
}

// mayRenew reports whether renewals of the client wait for their time, which may be now. The lock is held.
func (c *client) mayRenew() bool {
	pending := c.due && (c.behind > 0 || slices.ContainsFunc(c.holds, func(h *hold) bool { return h.actor == lb.Renewal }))
	return !c.dead && !pending && c.renewed < c.order.e.Bounds.Renewals && slices.ContainsFunc(c.waits, (*wait).renews)
}

// renews reports whether it is a renewal that waits for its time.
func (w *wait) renews() bool { return w.actor == lb.Renewal && w.ends != nil }

// renew lets renewals have their time. The lock is held.
func (c *client) renew() {
	for _, w := range c.waits {
		if w.renews() {
			c.fire(w)
		}
	}
}

// sleep lets no time pass: a client that works goes on, and one that wants to ask again stands before its
// next try. A renewal waits until its time comes.
func (c *client) sleep(ctx context.Context) error {
	o := c.order
	o.mu.Lock()
	w := c.in(ctx)
	asks := w != nil && w.actor != lb.Renewal
	if asks {
		c.polls++
	}
	if !c.dead && (w == nil || asks && !o.free) { // else it would ask again and again
		o.mu.Unlock()
		if asks && w.what == lb.RetryDelay {
			return c.calls(ctx, tryAgain)
		}
		return ctx.Err()
	}
	p := make(chan struct{})
	over := sync.OnceFunc(func() { close(p) })
	if w != nil && w.actor == lb.Renewal {
		w.ends = over
	}
	c.pauses = append(c.pauses, over)
	o.change()
	o.mu.Unlock()
	select {
	case <-p:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-o.over: // who does not heed that, and sleeps again, must not keep a processor busy
		time.Sleep(time.Millisecond)
		return errOver
	}
}
