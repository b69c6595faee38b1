package mysql

import (
	"context"
	"database/sql"
	"errors"

	lb "github.com/lockbench/lockbench"
)

// tying is a lock that the server ties to a connection.
type tying interface {
	// lock waits for the lock on the connection, or tries. Its error is ErrHeld if
	// it took nothing and the connection is as good as new.
	lock(ctx context.Context, l *link, req lb.Request) error
	// unlock gives it back. Its error is ErrLost if the server says that the
	// connection did not hold it.
	unlock(ctx context.Context, l *link, req lb.Request) error
}

// tied is a client of such a lock. Each acquisition has a connection to itself
// for as long as it lasts: what one waits for and when it is given up is no
// concern of the others. Connections are kept for the next one.
type tied struct {
	session // from where connections are killed
	links   *sql.DB
	tying   tying
	free    []*link
	held    lb.Held[*hold]
}

// hold is one acquisition.
type hold struct {
	*link
	guard  *guard // nil until it is granted
	broken bool   // nobody knows any more what the server did
}

// tiedRequests are those that look after a connection, and give it up.
var (
	tiedRequests = []string{"identify", "ping", "find-connection", "kill"}
	tiedReads    = []string{"find-connection"}
	tiedOwn      = []string{"identify", "ping"}
)

func openTied(ctx context.Context, s session, variables map[string]string, t tying) (lb.Client, error) {
	links, err := pool(s.env, variables)
	if err != nil {
		return nil, err
	}
	links.SetMaxIdleConns(-1) // to close one is to close it
	c := &tied{session: s, links: links, tying: t}
	l, err := s.connect(ctx, links, lb.Request{}) // for the first acquisition
	if err != nil {
		_ = links.Close()
		return nil, err
	}
	c.free = append(c.free, l)
	return c, nil
}

func (c *tied) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	l, err := c.link(ctx, req)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	h := &hold{link: l}
	c.held.Put(req.Owner, h)
	err = c.tying.lock(ctx, l, req)
	switch {
	case err == nil:
		h.guard = watch(c.env, l, c.env.Grant(req, 0, 0))
		return h.guard.lease, nil
	case errors.Is(err, lb.ErrHeld):
		c.keep(req, h)
		return nil, err
	case errors.Is(err, lb.ErrNotSent):
		c.keep(req, h)
		return nil, lb.NoEffect(err)
	}
	h.broken = true
	detached, cancel := c.env.Detached(ctx)
	defer cancel()
	if e := c.Release(detached, req); errors.Is(e, lb.ErrLost) {
		return nil, lb.NoEffect(err)
	}
	return nil, err
}

// link takes a connection that is free, or makes one.
func (c *tied) link(ctx context.Context, req lb.Request) (*link, error) {
	if n := len(c.free); n > 0 {
		l := c.free[n-1]
		c.free = c.free[:n-1]
		return l, nil
	}
	return c.connect(ctx, c.links, req)
}

// keep ends an acquisition whose connection can be used again.
func (c *tied) keep(req lb.Request, h *hold) {
	c.held.Drop(req.Owner)
	c.free = append(c.free, h.link)
}

// Release gives the lock back by its connection, or else ends that.
func (c *tied) Release(ctx context.Context, req lb.Request) error {
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
func (c *tied) give(ctx context.Context, req lb.Request, h *hold) error {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	err := c.tying.unlock(ctx, h.link, req)
	if lb.AnswerOf(err) != lb.AnswerUnknown {
		c.keep(req, h)
	} else {
		h.broken = !errors.Is(err, lb.ErrNotSent)
	}
	return err
}

// end is the release by the end of the connection. Where the server still knew it, it
// is anybody's guess for how long it would have.
func (c *tied) end(ctx context.Context, req lb.Request, h *hold) error {
	knew, err := c.kill(ctx, h.link, req)
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
func (c *tied) Close() error {
	for _, h := range c.held.All() {
		if h.guard != nil {
			h.guard.rest()
			h.guard.abort()
		}
		_ = h.link.Close()
	}
	for _, l := range c.free {
		_ = l.Close()
	}
	return errors.Join(c.links.Close(), c.session.Close())
}
