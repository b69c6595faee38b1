package zk

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// Herd is the first lock that ZooKeeper suggests to everybody: one node.
//
//	create -e lock owner
//	NodeExists: watch lock, wait until it is gone, and create again
//	delete lock
//
// Every release wakes all who wait, and all but one of them in vain: the herd.
// Nobody has a turn. Source: the surveys that present it as the basic ZooKeeper
// lock, and the herd as its defect.
func Herd() lb.Impl {
	info := queueInfo("zk-herd", "one ephemeral node; everybody who waits watches it",
		`the surveys' basic ZooKeeper lock; ZooKeeper Recipes warn of its "herd effect"`)
	info.Requests = []string{"create", "make", "sync", "find", "read", "watch", "renew", "look", "delete", "ping", "close"}
	info.Reads = []string{"sync", "find", "read", "watch", "look"}
	info.Traits.Fair = false
	return algorithm{info: info, open: func(c *client) lb.Client { return herd{c} }}
}

type herd struct{ *client }

const herdRoot = "/lockbench-herd"

func (h herd) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Shared {
		return nil, lb.ErrUnsupported
	}
	s, err := h.current(ctx)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	for {
		t := &ticket{env: h.env, req: req, session: s}
		h.held.Put(req.Owner, t)
		err := h.try(ctx, req, t)
		switch {
		case err == nil:
			return t.grant(), nil
		case !errors.Is(err, lb.ErrHeld):
			return nil, h.leave(ctx, req, err, h.Release)
		}
		h.held.Drop(req.Owner)
		if req.Try {
			return nil, err
		}
		if err := h.waitFor(ctx, req, s); err != nil {
			return nil, lb.NoEffect(err)
		}
	}
}

// try creates the node, once. If the connection is lost it looks whether it did.
func (h herd) try(ctx context.Context, req lb.Request, t *ticket) error {
	path := node(herdRoot, req.Lock)
	for t.path == "" {
		t.alive = h.env.Clock.Mono()
		_, err := zksession.Do(ctx, t.session, req, "create", func(z *zk.Conn) (string, error) {
			return z.Create(path, []byte(req.Owner), zk.FlagEphemeral, open)
		})
		t.entered = t.entered || !errors.Is(err, lb.ErrNotSent)
		switch {
		case errors.Is(err, zk.ErrNodeExists):
			return lb.ErrHeld
		case errors.Is(err, zk.ErrNoNode):
			err = persistent(ctx, t.session, req, herdRoot)
		case zksession.Unanswered(err):
			err = t.findOwn(ctx, path)
		case err == nil:
			err = t.known(ctx, path)
		}
		if err != nil {
			return fmt.Errorf("zk: create %s: %w", path, err)
		}
	}
	return nil
}

// findOwn looks whether the node is this acquisition's own, when its creation was
// not answered: the same question as that for an orphan in a queue.
func (t *ticket) findOwn(ctx context.Context, path string) error {
	if err := t.sync(ctx, path); err != nil {
		return err
	}
	data, err := zksession.Repeat(ctx, t.session, t.req, "find", func(z *zk.Conn) ([]byte, error) {
		data, _, err := z.Get(path)
		return data, err
	})
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil
	case err == nil && string(data) == t.req.Owner:
		return t.found(ctx, path)
	}
	return err
}

// waitFor returns when the node is gone. A wait that was given up has no effect.
func (h herd) waitFor(ctx context.Context, req lb.Request, s *zksession.Session) error {
	path := node(herdRoot, req.Lock)
	deleted, err := watchDelete(ctx, s, req, path)
	if err != nil {
		return fmt.Errorf("zk: watch %s: %w", path, err)
	}
	if deleted == nil {
		return nil
	}
	if err := h.await(ctx, req, s, deleted); err != nil {
		return fmt.Errorf("zk: wait for %s: %w", path, err)
	}
	return nil
}

// Release implements lb.Client. The session is the owner: while it lasts, the
// node can't be another's.
func (h herd) Release(ctx context.Context, req lb.Request) error {
	return h.release(ctx, req, func(ctx context.Context, t *ticket) error {
		return t.findOwn(ctx, node(herdRoot, req.Lock))
	})
}
