package sqllock

import (
	"context"
	"database/sql"
	"errors"

	lb "github.com/lockbench/lockbench"
)

// Tying is a lock that the server ties to a connection.
type Tying interface {
	// Lock waits for the lock on the connection, or tries. Its error is ErrHeld if
	// it took nothing and the connection is as good as new.
	Lock(ctx context.Context, l *Link, req lb.Request) error
	// Unlock gives it back. Its error is ErrLost if the server says that the
	// connection did not hold it.
	Unlock(ctx context.Context, l *Link, req lb.Request) error
}

// Tied is a client of such a lock. Each acquisition has a connection to itself
// for as long as it lasts: what one waits for and when it is given up is no
// concern of the others. Connections are kept for the next one.
type Tied struct {
	Session         // from where connections are killed
	Links   *sql.DB // where those of acquisitions come from
	Ask     Connections
	Tying   Tying

	free []*Link
	held lb.Held[*hold]
}

// hold is one acquisition.
type hold struct {
	*Link
	guard  *guard // nil until it is granted
	broken bool   // nobody knows any more what the server did
}

// Requests are those that look after a connection, and give it up. Reads are those among them that
// change nothing, and Own those that no release waits for.
var (
	Requests = []string{"identify", "ping", "find-connection", "kill"}
	Reads    = []string{"find-connection"}
	Own      = []string{"identify", "ping"}
)

// Open connects for the first acquisition.
func (c *Tied) Open(ctx context.Context) (lb.Client, error) {
	c.Links.SetMaxIdleConns(-1) // to close one is to close it
	l, err := c.connect(ctx, lb.Request{})
	if err != nil {
		_ = c.Links.Close()
		return nil, err
	}
	c.free = append(c.free, l)
	return c, nil
}

// Acquire implements [lb.Client].
func (c *Tied) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	l, err := c.link(ctx, req)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	h := &hold{Link: l}
	c.held.Put(req.Owner, h)
	err = c.Tying.Lock(ctx, l, req)
	switch {
	case err == nil:
		h.guard = watch(c.Env, l, c.Env.Grant(req, 0, 0))
		return h.guard.lease, nil
	case errors.Is(err, lb.ErrHeld):
		c.keep(req, h)
		return nil, err
	case errors.Is(err, lb.ErrNotSent):
		c.keep(req, h)
		return nil, lb.NoEffect(err)
	}
	h.broken = true
	detached, cancel := c.Env.Detached(ctx)
	defer cancel()
	if e := c.Release(detached, req); errors.Is(e, lb.ErrLost) {
		return nil, lb.NoEffect(err)
	}
	return nil, err
}

// link takes a connection that is free, or makes one.
func (c *Tied) link(ctx context.Context, req lb.Request) (*Link, error) {
	if n := len(c.free); n > 0 {
		l := c.free[n-1]
		c.free = c.free[:n-1]
		return l, nil
	}
	return c.connect(ctx, req)
}

// keep ends an acquisition whose connection can be used again.
func (c *Tied) keep(req lb.Request, h *hold) {
	c.held.Drop(req.Owner)
	c.free = append(c.free, h.Link)
}

// Release gives the lock back by its connection, or else ends that.
func (c *Tied) Release(ctx context.Context, req lb.Request) error {
	h, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if h.guard != nil && !h.guard.stop(ctx) {
		h.broken = true
	}
	if h.broken {
		return c.end(ctx, req, h)
	}
	return c.give(ctx, req, h)
}

// give is the release by a connection that is known to live.
func (c *Tied) give(ctx context.Context, req lb.Request, h *hold) error {
	ctx, cancel := c.Patient(ctx)
	defer cancel()
	err := c.Tying.Unlock(ctx, h.Link, req)
	if lb.AnswerOf(err) != lb.AnswerUnknown {
		c.keep(req, h)
	} else {
		h.broken = !errors.Is(err, lb.ErrNotSent)
	}
	return err
}

// end is the release by the end of the connection. Where the server still knew it, it
// is anybody's guess for how long it would have.
func (c *Tied) end(ctx context.Context, req lb.Request, h *hold) error {
	knew, err := c.kill(ctx, h.Link, req)
	if err != nil {
		return err
	}
	c.held.Drop(req.Owner)
	if knew && h.guard != nil {
		return lb.ErrReleased
	}
	return lb.ErrLost
}

// Close closes all connections; the server gives up the locks when it notices.
func (c *Tied) Close() error {
	for _, h := range c.held.All() {
		if h.guard != nil {
			h.guard.rest()
			h.guard.abort()
		}
		_ = h.Link.Close()
	}
	for _, l := range c.free {
		_ = l.Close()
	}
	return errors.Join(c.Links.Close(), c.Session.Close())
}
