// Package consul holds the lock algorithms on Consul, one a file.
package consul

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/hashicorp/consul/api"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/kept"
)

// algorithm is an lb.Impl made of its description and the lock-delay that its sessions ask for.
type algorithm struct {
	info  lb.Info
	delay string
}

func (a algorithm) Info() lb.Info { return a.info }

func (a algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	d, err := newDoor(env)
	if err != nil {
		return nil, err
	}
	c := &client{sessions{door: d, delay: a.delay}}
	s, err := c.create(ctx, lb.Request{})
	if err != nil {
		d.close()
		return nil, err
	}
	c.free = append(c.free, s)
	return lb.Again(lb.Exclusive(c)), nil
}

type client struct{ sessions }

// Acquire implements [lb.Client].
func (c *client) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	for free := false; ; {
		t, err := c.take(ctx, req)
		if err != nil {
			return nil, err
		}
		lease, err := c.try(ctx, req, t)
		switch {
		case err == nil:
			return lease, nil
		case errors.Is(err, errGone): // this client was not told
			t.Stop()
			c.held.Drop(req.Owner)
			continue
		case !errors.Is(err, lb.ErrHeld):
			return nil, c.leave(ctx, req, err)
		}
		c.leaveFree(req, t)
		if req.Try {
			return nil, err
		}
		if free, err = c.await(ctx, req, free); err != nil {
			return nil, lb.NoEffect(err)
		}
	}
}

// try asks for the lock, and reads its index if it was granted.
func (c *client) try(ctx context.Context, req lb.Request, t *ticket) (*lb.Lease, error) {
	_, err := c.send(ctx, req, "acquire", func(ctx context.Context, at *server) error {
		granted, _, err := at.KV().Acquire(&api.KVPair{Key: key(req.Lock), Value: []byte(req.Owner), Session: t.id}, writing(ctx))
		if err == nil && !granted {
			return lb.ErrHeld
		}
		return err
	})
	switch {
	case errors.Is(err, lb.ErrHeld), errors.Is(err, errGone):
		return nil, err
	case errors.Is(err, lb.ErrNotSent), isRefused(err):
		return nil, lb.NoEffect(err)
	case err != nil:
		t.unsure = true
		return nil, err
	}
	pair, _, err := c.read(ctx, req, "get", &api.QueryOptions{RequireConsistent: true}, c.bounded)
	switch {
	case err != nil:
		return nil, err
	case pair == nil || pair.Session != t.id:
		return nil, fmt.Errorf("consul: the lock is not there: %w", kept.ErrEnded)
	}
	return t.Hand(pair.LockIndex)
}

// read reads the key, which is nil where there is none, and its index. Of a question nobody needs the answer who does not
// want it any more.
func (c *client) read(ctx context.Context, req lb.Request, name string, how *api.QueryOptions, within func(context.Context) (context.Context, context.CancelFunc)) (pair *api.KVPair, index uint64, err error) {
	err = c.through(ctx, req, name, func(ctx context.Context, at *server) error {
		ctx, cancel := within(ctx)
		defer cancel()
		found, meta, err := at.KV().Get(key(req.Lock), how.WithContext(ctx))
		if err == nil {
			pair, index = found, meta.LastIndex
		}
		return err
	})
	return pair, index, err
}

// delayed is the mean pause of a client that is refused a lock that nobody holds, since its lock-delay is not over: Consul
// tells nobody when it is.
const delayed = 100 * time.Millisecond

// await returns when the lock is perhaps to be had: when it was held, and has been given back since, or when nobody holds it.
// If it was so before, and somebody was refused it, its lock-delay is not over.
func (c *client) await(ctx context.Context, req lb.Request, before bool) (free bool, err error) {
	pair, index, err := c.read(ctx, req, "get", &api.QueryOptions{}, c.asking)
	for err == nil && pair != nil && pair.Session != "" {
		held := pair.Session
		err = c.env.Wait(ctx, req, "watch", func(ctx context.Context) (err error) {
			pair, index, err = c.read(ctx, req, "watch", &api.QueryOptions{WaitIndex: index, WaitTime: c.env.TTL}, c.watching)
			return err
		})
		if err == nil && (pair == nil || pair.Session != held) {
			return false, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return false, errors.Join(ctx.Err(), err)
	case isRefused(err):
		return false, err
	case err == nil && !before:
		return true, nil
	}
	return err == nil, c.env.Pause(ctx, req, delayed) // after an error the next server may know more
}

// asking is ctx for a question that is answered at once, watching for one that is answered after a lease, and, as Consul has it,
// up to a sixteenth more, at the latest.
func (c *client) asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.env.WithTimeout(ctx, c.env.TTL/3)
}

func (c *client) watching(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.env.WithTimeout(ctx, c.env.TTL+c.env.TTL/16+c.env.TTL/3)
}

// leave gives up after err, and not by the context that may just have ended.
func (c *client) leave(ctx context.Context, req lb.Request, err error) error {
	if t, ok := c.held.Get(req.Owner); ok && errors.Is(err, lb.ErrNoEffect) {
		c.leaveFree(req, t)
		return err
	}
	ctx, cancel := c.env.Detached(ctx)
	defer cancel()
	switch e := c.Release(ctx, req); lb.AnswerOf(e) {
	case lb.AnswerUnknown:
		return fmt.Errorf("consul: give up (%v): %w", err, e)
	case lb.AnswerFailed: // without effect was the release, not the whole
		return fmt.Errorf("consul: give up (%v): %v", err, e)
	}
	return lb.NoEffect(err)
}

// Release implements [lb.Client]. Where it is not known what became of a request, the session ends, too, after the lock was
// given back, since a lock that is held when its session ends is nobody's until its lock-delay is over.
func (c *client) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	gave := false
	_, err := c.send(ctx, req, "release", func(ctx context.Context, at *server) (err error) {
		gave, _, err = at.KV().Release(&api.KVPair{Key: key(req.Lock), Session: t.id}, writing(ctx))
		if err == nil && !gave {
			return lb.ErrLost
		}
		return err
	})
	if lb.AnswerOf(err) == lb.AnswerUnknown {
		t.Stop() // a lock that can't be released must at least expire
		if isRefused(err) {
			return lb.NoEffect(err)
		}
		t.unsure = true
		return err
	}
	granted := t.Granted()
	if t.unsure {
		if err := c.destroy(ctx, req, t.session); err != nil {
			return err
		}
	}
	switch {
	case t.unsure || !gave:
		t.Stop() // the session has ended, or holds nothing, and ends by itself
		c.held.Drop(req.Owner)
	default:
		c.leaveFree(req, t)
	}
	if !granted || !gave {
		return lb.ErrLost
	}
	return nil
}

// key is that of a lock. A name is escaped, so that no path is made shorter by what it has of one.
func key(lock string) string { return lb.Prefix + ":" + url.PathEscape(lock) }
