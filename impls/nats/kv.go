package nats

import (
	"context"
	"errors"
	"time"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/nats"
)

// KV is the lock that the documentation's parts make, each of which is atomic:
//
//	get lock                                                a value: held, try again
//	create lock owner, at no revision or the marker's       wrong last sequence: held, try again
//	delete lock, at one's own revision                      wrong last sequence: it is lost
//
// A key that was deleted leaves a marker, which has a revision, and so, for a second, has one that has ended. The library's Create
// tries to write first, at no revision, and reads the key when that is refused, as it is for all but the first holder: so
// that it sends three requests where this sends two. get may be answered by a server that is behind the others; then the
// revision is an old one, and nobody is granted anything by it. Who waits reads the key again and again.
//
// NATS keeps a key for whole seconds, and drops the part of one that a duration has beside: a key is made for as many as a
// lease has begun. The revision is the fencing token: it is the number of the message among all of the bucket, and
// counts on when a key is deleted or ends.
func KV() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "nats-kv",
			Doc:        "create a key with a TTL of its own, or over the marker of one that is gone; delete it at the revision that it was created with",
			Source:     `docs.nats.io, "Key/Value Store"; NATS ADR-8`,
			Topologies: []string{"nats", "nats-3"},
			Requests:   []string{"get", "create", "delete", "look", "ready"},
			Reads:      []string{"get", "look", "ready"},
			ByTheBook:  true,
			Takes:      "create",
			Traits:     lb.Traits{Fenced: true, Leased: true},
			Expect:     lease(),
		},
		open: func(s *session) lb.Client { return kv{s} },
	}
}

type kv struct{ *session }

func (c kv) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.acquire(ctx, req, wholeSeconds(c.env.TTL))
}

// wholeSeconds is the lease, and less than a second more.
func wholeSeconds(lease time.Duration) time.Duration {
	return (lease + time.Second - 1) / time.Second * time.Second
}

// acquire makes the key, to last for so long.
func (s *session) acquire(ctx context.Context, req lb.Request, lasts time.Duration) (*lb.Lease, error) {
	return s.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		found, err := s.get(ctx, req)
		switch {
		case errors.Is(err, lb.ErrNoEffect):
			return nil, err
		case err != nil:
			return nil, lb.NoEffect(err)
		case !found.Gone:
			return nil, lb.ErrHeld
		}
		return s.create(ctx, req, found.Revision, lasts)
	})
}

func (s *session) get(ctx context.Context, req lb.Request) (found backend.Entry, err error) {
	_, err = s.ask(ctx, req, "get", func(ctx context.Context) (err error) {
		found, err = s.kv.Get(ctx, key(req.Lock))
		return err
	})
	return found, err
}

func (s *session) create(ctx context.Context, req lb.Request, at uint64, lasts time.Duration) (*lb.Lease, error) {
	revision, sent, err := s.put(ctx, req, "create", at, lasts)
	if errors.Is(err, backend.ErrMeanwhile) {
		return nil, lb.ErrHeld
	}
	if err != nil {
		return nil, lb.Unsent(err)
	}
	s.held.Put(req.Owner, revision)
	return s.env.Grant(req, revision, s.env.Validity(sent)), nil
}

func (c kv) Release(ctx context.Context, req lb.Request) error {
	revision, err := c.revision(ctx, req)
	if err != nil {
		return err
	}
	return c.delete(ctx, req, revision)
}

// revision is that of the acquisition. Who was not told it looks whether the key has its value.
func (s *session) revision(ctx context.Context, req lb.Request) (uint64, error) {
	if revision, ok := s.held.Get(req.Owner); ok {
		return revision, nil
	}
	found, err := s.look(ctx, req)
	switch {
	case err != nil:
		return 0, err
	case found.Gone || found.Value != req.Owner:
		return 0, lb.ErrLost
	}
	s.held.Put(req.Owner, found.Revision)
	return found.Revision, nil
}

// delete removes the key if it is at the revision.
func (s *session) delete(ctx context.Context, req lb.Request, at uint64) error {
	_, err := s.ask(ctx, req, "delete", func(ctx context.Context) error {
		err := s.kv.Delete(ctx, key(req.Lock), at)
		if errors.Is(err, backend.ErrRevision) {
			return lb.ErrLost
		}
		return err
	})
	if err == nil || errors.Is(err, lb.ErrLost) {
		s.held.Drop(req.Owner)
	}
	return err
}
