package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// recipe is one acquisition by a lock of the client library.
type recipe interface {
	// take takes the lock. It announces a wait even where there is none: the library does not say.
	take(ctx context.Context, env *lb.Env, req lb.Request) error
	token() uint64
	// none reports, after take has failed, whether it has surely left no key.
	none() bool
	give(ctx context.Context) error
	// once: the library forgets what it should give back, whether it could or not.
	once() bool
	// gave reads in etcd's reply to that whether there was a key to delete.
	gave(reply any) bool
}

// recipes is a client as the library's users have it: one connection, one concurrency.Session, made
// anew where it has ended, and an object of the library's for each acquisition.
type recipes struct {
	env     *lb.Env
	etcd    *clientv3.Client
	gives   string // the request that gives a lock back
	begin   func(*concurrency.Session, lb.Request) recipe
	session *concurrency.Session
	held    lb.Held[*recipeTicket]
}

type recipeTicket struct {
	recipe
	session *concurrency.Session
	lease   *lb.Lease   // nil while the grant is not certain
	unsure  bool        // it was given back, perhaps, and can't be again
	deaf    func() bool // no longer hears of the session's end
}

// ofLibrary is what the recipes of the library are good for. Which of them it is says of, and shared what comes of it
// that the session is the owner.
func ofLibrary(of, shared string) []lb.Expectation {
	const (
		why     = "the library gives no end of the lease; the session's Done closes up to a second after it"
		session = "session.go and lease.go of the library"
	)
	return compose.Except(onEtcd(compose.FencedLease()), append(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Fence, lb.Check, lb.Safe},
			Why: "the library does not look at its session when the answer comes late; " + why, Source: of}, "lost-grant", "late-grant", "reset-grant"),
		lb.Expectation{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.DoubleGrant,
			Why: "a frozen holder that wakes has not been told yet; " + why, Source: session},
		lb.Expectation{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Fence, lb.Check}, Why: why, Source: session},
		lb.Expectation{Fault: "shared-session", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the session is the owner: a second acquisition in it finds its own key and is granted the lock at once, " + shared, Source: of},
		lb.Expectation{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.DoubleGrant,
			Why: why, Source: compose.Kleppmann},
	)...)
}

func openRecipe(ctx context.Context, env *lb.Env, gives string, begin func(*concurrency.Session, lb.Request) recipe) (lb.Client, error) {
	etcd, err := Dial(ctx, env)
	if err != nil {
		return nil, err
	}
	c := &recipes{env: env, etcd: etcd, gives: gives, begin: begin}
	if _, err := c.alive(For(ctx, lb.Request{})); err != nil {
		return nil, errors.Join(err, etcd.Close())
	}
	return open(env, c), nil
}

// alive returns the client's session, a new one if it has ended. Its lease is
// granted here, since the library would ask for it without a deadline.
func (c *recipes) alive(ctx context.Context) (*concurrency.Session, error) {
	if c.session != nil && !ended(c.session) {
		return c.session, nil
	}
	granted, err := c.etcd.Grant(ctx, seconds(c.env))
	if err != nil {
		return nil, fmt.Errorf("etcd: grant a lease: %w", err)
	}
	s, err := concurrency.NewSession(c.etcd, concurrency.WithLease(granted.ID), concurrency.WithTTL(int(seconds(c.env))))
	if err != nil {
		return nil, fmt.Errorf("etcd: new session: %w", err)
	}
	c.session = s
	return s, nil
}

func ended(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

func (c *recipes) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	s, err := c.alive(For(ctx, req))
	if err != nil {
		return nil, lb.NoEffect(err) // a lease alone locks nothing
	}
	t := &recipeTicket{recipe: c.begin(s, req), session: s}
	c.held.Put(req.Owner, t)
	took := &call{req: req}
	err = t.take(took.in(ctx), c.env, req)
	switch {
	case err == nil:
		t.lease = c.env.Grant(req, t.token(), 0)
		t.deaf = context.AfterFunc(s.Ctx(), func() { t.lease.Lose("the session has ended") })
		return t.lease, nil
	case took.sent > 0 && !t.none() && !errors.Is(err, concurrency.ErrSessionExpired):
		return nil, fmt.Errorf("etcd: lock: %w", err) // perhaps our key is there
	}
	c.held.Drop(req.Owner)
	switch {
	case errors.Is(err, concurrency.ErrLocked):
		return nil, lb.ErrHeld
	case errors.Is(err, lb.ErrUnsupported):
		return nil, err
	}
	return nil, lb.NoEffect(fmt.Errorf("etcd: lock: %w", err))
}

func (c *recipes) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	switch {
	case t.lease == nil:
		return cmp.Or(c.abandon(ctx, req, t), lb.ErrLost)
	case t.unsure:
		return cmp.Or(c.abandon(ctx, req, t), lb.ErrReleased)
	}
	t.deaf()
	gave := &call{req: req, name: c.gives}
	if err := t.give(gave.in(ctx)); err != nil {
		t.unsure = t.once()
		return fmt.Errorf("etcd: unlock: %w", err)
	}
	c.held.Drop(req.Owner)
	if t.gave(gave.last) {
		return nil
	}
	t.lease.Lose("the key was gone at the unlock")
	return lb.ErrLost
}

// abandon ends the session of a request whose outcome is unknown: the library gives back no key
// of which it has not heard, or that it has forgotten, and the put may still be on its way. A put under a revoked lease
// fails. Other locks of the session are lost with it.
func (c *recipes) abandon(ctx context.Context, req lb.Request, t *recipeTicket) error {
	t.session.Orphan()
	if err := c.revoke(For(ctx, req), t.session); err != nil {
		return err
	}
	c.held.Drop(req.Owner)
	return nil
}

func (c *recipes) revoke(ctx context.Context, s *concurrency.Session) error {
	if _, err := c.etcd.Revoke(ctx, s.Lease()); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("etcd: revoke the session's lease: %w", err)
	}
	return nil
}

func (c *recipes) Close() error {
	ctx, cancel := c.env.Detached(context.Background())
	defer cancel()
	c.session.Orphan()
	_ = c.revoke(For(ctx, lb.Request{}), c.session) // otherwise it ends by itself
	return c.etcd.Close()
}
