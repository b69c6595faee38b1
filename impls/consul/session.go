package consul

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/kept"
)

// sessions are those of one client. Each serves one acquisition at a time: a session is what Consul knows an owner by, and
// whoever holds a lock in it is granted the lock again.
type sessions struct {
	*door
	delay string // the lock-delay, "" for Consul's own
	held  lb.Held[*ticket]
	free  []*session // left by acquisitions that have ended
}

// session is one that is kept alive, also from one acquisition to the next.
type session struct {
	*kept.Keeper
	id string
}

// ticket is one acquisition.
type ticket struct {
	*session
	unsure bool // whether Consul has, or will have, carried out what was sent last
}

// take begins an acquisition with a session that another has left, or with a new one. A session alone locks nothing.
func (c *sessions) take(ctx context.Context, req lb.Request) (*ticket, error) {
	for len(c.free) > 0 {
		last := len(c.free) - 1
		s := c.free[last]
		c.free = c.free[:last]
		if s.Lease.Valid() {
			return c.serve(req, s), nil
		}
		s.Stop()
	}
	s, err := c.create(ctx, req)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	return c.serve(req, s), nil
}

func (c *sessions) serve(req lb.Request, s *session) *ticket {
	s.Serve(&req)
	t := &ticket{session: s}
	c.held.Put(req.Owner, t)
	return t
}

// create makes a session. What it says of its node's health Consul adds by itself: a session ends when the server that
// made it is taken for dead.
func (c *sessions) create(ctx context.Context, req lb.Request) (*session, error) {
	how := map[string]string{"Name": lb.Prefix, "TTL": c.env.TTL.String()}
	if c.delay != "" { // which the library can't say: it leaves a zero out
		how["LockDelay"] = c.delay
	}
	var made struct{ ID string }
	sent, err := c.send(ctx, req, "create", func(ctx context.Context, at *server) error {
		_, err := at.Raw().Write("/v1/session/create", how, &made, writing(ctx))
		if err == nil {
			c.env.Session(made.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &session{id: made.ID, Keeper: kept.Keep(c.env, sent, func(ctx context.Context, req lb.Request) error {
		return c.renew(ctx, req, made.ID)
	})}, nil
}

// renew asks one server after the other.
func (c *sessions) renew(ctx context.Context, req lb.Request, id string) (err error) {
	for range c.servers {
		each, cancel := c.env.WithTimeout(ctx, c.env.TTL/3/time.Duration(len(c.servers)))
		_, err = c.send(each, req, "renew", func(ctx context.Context, at *server) error {
			found, _, err := at.Session().Renew(id, writing(ctx))
			if err == nil && found == nil {
				return lb.ErrLost
			}
			return err
		})
		cancel()
		if err == nil || lb.AnswerOf(err) == lb.AnswerLost || ctx.Err() != nil {
			break
		}
	}
	return err
}

// leaveFree ends an acquisition whose session can be used again.
func (c *sessions) leaveFree(req lb.Request, t *ticket) {
	c.held.Drop(req.Owner)
	t.Serve(nil)
	c.free = append(c.free, t.session)
}

// destroy ends a session. What was sent in it and arrives later is refused.
func (c *sessions) destroy(ctx context.Context, req lb.Request, s *session) error {
	s.Stop()
	_, err := c.send(ctx, req, "destroy", func(ctx context.Context, at *server) error {
		_, err := at.Session().Destroy(s.id, writing(ctx))
		return err
	})
	return err
}

// Close implements [lb.Client].
func (c *sessions) Close() error {
	ctx, cancel := c.env.Detached(context.Background())
	defer cancel()
	for _, t := range c.held.All() {
		c.free = append(c.free, t.session)
	}
	for _, s := range c.free {
		_ = c.destroy(ctx, lb.Request{}, s) // else it ends by itself
	}
	c.door.close()
	return nil
}
