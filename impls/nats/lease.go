package nats

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
)

// Lease is the lock that NATS's own people recommend, and their library for elections is made of: the bucket says how long
// its keys last, and each is renewed by an update at its last revision.
//
//	get lock; create lock owner, at no revision or the marker's
//	update lock owner, at one's own revision, every third of a lease     wrong last sequence: look
//	look lock                                                            another's value, or none: it is lost
//	delete lock, at one's own revision                                   wrong last sequence: look
//
// Of an update whose answer was lost nobody knows the revision, and the next is refused; who takes that for a loss gives up
// a lock that it has. So it looks whether the value is still its own. The token is the revision of the first message, not of
// the last: whoever is granted the lock next has a higher one than any of its updates.
func Lease() lb.Impl {
	return algorithm{
		keysLast: true,
		info: lb.Info{
			Name:       "nats-kv-lease",
			Doc:        "create a key in a bucket whose keys last for a lease; update it at its revision every third of that; delete it at its revision",
			Source:     "nats-server#3375, a maintainer's advice; nats-kv-leader-elect",
			Topologies: []string{"nats", "nats-3"},
			Requests:   []string{"get", "create", "update", "look", "delete", "ready"},
			Reads:      []string{"get", "look", "ready"},
			Takes:      "create",
			Traits:     lb.Traits{Fenced: true, Leased: true, Renewing: true, LostNotice: true},
			Expect:     renewed(),
		},
		open: func(s *session) lb.Client { return &leased{session: s} },
	}
}

type leased struct {
	*session
	stops lb.Held[func()] // of renewals
}

func (c *leased) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.acquire(ctx, req, 0)
	if err == nil {
		c.stops.Put(req.Owner, lease.Renew(func(ctx context.Context) error { return c.renew(ctx, req) }))
	}
	return lease, err
}

// renew writes the key again, which then lasts for another lease.
func (c *leased) renew(ctx context.Context, req lb.Request) error {
	err := c.update(ctx, req)
	if !errors.Is(err, lb.ErrHeld) {
		return err
	}
	if err := c.current(ctx, req); err != nil {
		return err
	}
	if err := c.update(ctx, req); !errors.Is(err, lb.ErrHeld) {
		return err
	}
	return lb.ErrLost
}

func (c *leased) update(ctx context.Context, req lb.Request) error {
	at, err := c.revision(ctx, req)
	if err != nil {
		return err
	}
	revision, _, err := c.put(ctx, req, "update", at, 0)
	if err == nil {
		c.held.Put(req.Owner, revision)
	}
	return err
}

// current looks at which revision the key is, if it has this owner's value.
func (c *leased) current(ctx context.Context, req lb.Request) error {
	c.held.Drop(req.Owner)
	_, err := c.revision(ctx, req)
	return err
}

func (c *leased) Release(ctx context.Context, req lb.Request) error {
	if stop, ok := c.stops.Get(req.Owner); ok {
		stop()
		c.stops.Drop(req.Owner)
	}
	at, err := c.revision(ctx, req)
	if err != nil {
		return err
	}
	if err = c.delete(ctx, req, at); !errors.Is(err, lb.ErrLost) {
		return err
	}
	if at, err = c.revision(ctx, req); err != nil { // a renewal was perhaps on its way
		return err
	}
	return c.delete(ctx, req, at)
}

// Close implements [lb.Client].
func (c *leased) Close() error {
	for _, stop := range c.stops.All() {
		stop()
	}
	return c.session.Close()
}
