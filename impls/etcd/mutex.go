package etcd

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Mutex is the lock of etcd's own client library, as its users have it: one
// concurrency.Session a client, one concurrency.Mutex an acquisition.
//
//	Txn: if our key is not there, put it, bound to the session's lease; who is oldest?
//	     the oldest holds the lock; others watch their predecessor, then look again
//	Delete our key
//
// What it does not tell its users, and therefore not us, is how long a grant is
// good for: a holder relies on it until the session's Done, which closes at etcd's
// word, or when the library looks at its watch, once a second.
//
// The token is the revision of the reply that granted the lock. It is that of a
// later write than every grant before; but it is not the key's create revision,
// which a waiter gets long before its grant, and the two must not be mixed.
func Mutex() lb.Impl { return mutexImpl{} }

type mutexImpl struct{}

func (mutexImpl) Info() lb.Info {
	const why = "the library gives no end of the lease; the session's Done closes up to a second after it"
	late := func(fault string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Fence, lb.Check, lb.Safe},
			Why: "Lock does not look at its session when the answer comes late; " + why, Source: "mutex.go of the library"}
	}
	return lb.Info{
		Name:       "etcd-mutex",
		Doc:        "the client library's concurrency.Mutex: one transaction to lock, one delete to unlock",
		Source:     "go.etcd.io/etcd/client/v3/concurrency",
		Topologies: []string{"etcd", "etcd-3"},
		Requests:   []string{"txn", "get", "watch", "unwatch", "delete", "grant", "keep-alive", "revoke"},
		Reads:      []string{"get", "watch", "unwatch"},
		Own:        []string{"keep-alive"},
		Takes:      "txn",
		Traits:     lb.Traits{Fenced: true, Renewing: true, Push: true, Fair: true, Session: true, LostNotice: true},
		Expect: compose.Except(onEtcd(compose.FencedLease()),
			lb.Expectation{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.DoubleGrant,
				Why: "a frozen holder that wakes has not been told yet; " + why, Source: "session.go and lease.go of the library"},
			lb.Expectation{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Fence, lb.Check},
				Why: why, Source: "session.go and lease.go of the library"},
			lb.Expectation{Fault: "shared-session", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "the session is the owner: a second Mutex on it finds its own key and is granted the lock at once, by a transaction that wrote nothing, so that the revision is no token", Source: "mutex.go of the library"},
			late("lost-grant"), late("late-grant"), late("reset-grant"),
			lb.Expectation{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.DoubleGrant,
				Why: why, Source: compose.Kleppmann},
		),
	}
}

func (mutexImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	etcd, err := Dial(ctx, env)
	if err != nil {
		return nil, err
	}
	c := &mutexClient{env: env, etcd: etcd}
	if _, err := c.alive(For(ctx, lb.Request{})); err != nil {
		return nil, errors.Join(err, etcd.Close())
	}
	return open(env, c), nil
}

type mutexClient struct {
	env     *lb.Env
	etcd    *clientv3.Client
	session *concurrency.Session
	held    lb.Held[*mutexTicket]
}

type mutexTicket struct {
	*concurrency.Mutex
	session *concurrency.Session
	lease   *lb.Lease   // nil while the grant is not certain
	deaf    func() bool // no longer hears of the session's end
}

// alive returns the client's session, a new one if it has ended. Its lease is
// granted here, since the library would ask for it without a deadline.
func (c *mutexClient) alive(ctx context.Context) (*concurrency.Session, error) {
	if c.session != nil && !ended(c.session) {
		return c.session, nil
	}
	granted, err := c.etcd.Grant(ctx, seconds(c.env))
	if err != nil {
		return nil, fmt.Errorf("etcd: grant a lease: %w", err)
	}
	c.session, err = concurrency.NewSession(c.etcd, concurrency.WithLease(granted.ID), concurrency.WithTTL(int(seconds(c.env))))
	if err != nil {
		return nil, fmt.Errorf("etcd: new session: %w", err)
	}
	return c.session, nil
}

func ended(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

func (c *mutexClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	s, err := c.alive(For(ctx, req))
	if err != nil {
		return nil, lb.NoEffect(err) // a lease alone locks nothing
	}
	t := &mutexTicket{Mutex: concurrency.NewMutex(s, name(req.Lock)), session: s}
	c.held.Put(req.Owner, t)
	lock := &call{req: req}
	err = c.lock(lock.in(ctx), req, t.Mutex)
	switch {
	case err == nil:
		t.lease = c.env.Grant(req, uint64(t.Header().Revision), 0)
		t.deaf = context.AfterFunc(s.Ctx(), func() { t.lease.Lose("the session has ended") })
		return t.lease, nil
	case lock.sent > 0 && t.Key() != deletedKey && !errors.Is(err, concurrency.ErrSessionExpired):
		return nil, fmt.Errorf("etcd: lock: %w", err) // perhaps our key is there
	}
	c.held.Drop(req.Owner)
	if errors.Is(err, concurrency.ErrLocked) {
		return nil, lb.ErrHeld
	}
	return nil, lb.NoEffect(fmt.Errorf("etcd: lock: %w", err))
}

// deletedKey is what the library sets the key to when it has deleted it.
const deletedKey = "\x00"

// lock announces a wait even where there is none: the library does not say.
func (c *mutexClient) lock(ctx context.Context, req lb.Request, m *concurrency.Mutex) error {
	if req.Try {
		return m.TryLock(ctx)
	}
	return c.env.Wait(ctx, req, "lock", m.Lock)
}

// Release unlocks. The library throws away whether there was a key to delete; it
// stands in etcd's reply.
func (c *mutexClient) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if t.lease == nil {
		return c.abandon(ctx, req, t)
	}
	t.deaf()
	unlock := &call{req: req}
	if err := t.Unlock(unlock.in(ctx)); err != nil {
		return fmt.Errorf("etcd: unlock: %w", err)
	}
	c.held.Drop(req.Owner)
	if reply, ok := unlock.last.(*etcdserverpb.DeleteRangeResponse); ok && reply.Deleted > 0 {
		return nil
	}
	t.lease.Lose("the key was gone at the unlock")
	return lb.ErrLost
}

// abandon ends the session of an acquire whose outcome is unknown: the library's
// Unlock refuses such a Mutex, and its put may still be on the way. A put under a
// revoked lease fails. Other locks of the session are lost with it.
func (c *mutexClient) abandon(ctx context.Context, req lb.Request, t *mutexTicket) error {
	t.session.Orphan()
	if err := c.revoke(For(ctx, req), t.session); err != nil {
		return err
	}
	c.held.Drop(req.Owner)
	return lb.ErrLost
}

func (c *mutexClient) revoke(ctx context.Context, s *concurrency.Session) error {
	if _, err := c.etcd.Revoke(ctx, s.Lease()); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("etcd: revoke the session's lease: %w", err)
	}
	return nil
}

func (c *mutexClient) Close() error {
	ctx, cancel := c.env.Detached(context.Background())
	defer cancel()
	c.session.Orphan()
	_ = c.revoke(For(ctx, lb.Request{}), c.session) // otherwise it ends by itself
	return c.etcd.Close()
}
