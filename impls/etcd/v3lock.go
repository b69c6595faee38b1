package etcd

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

// V3Lock is the lock that etcd's server offers as a service, for clients in
// languages that have no library for it. The queue is kept by the server; the
// client keeps the lease:
//
//	LeaseGrant ttl
//	Lock name lease           (answers when the lock is ours)
//	LeaseKeepAlive …
//	Unlock key
//	LeaseRevoke
//
// The token is the revision of the reply to Lock.
//
// After many calls of Lock that were cancelled while they waited, the server of etcd 3.7.3
// answers no waiter any more, though the queue before it is empty (etcd-io/etcd#13336). It
// is the server's, so it stands here as it is: a benchmark shows an outage that never ends.
func V3Lock() lb.Impl { return v3lockImpl{} }

type v3lockImpl struct{}

func (v3lockImpl) Info() lb.Info {
	return lb.Info{
		Name:       "etcd-v3lock",
		Doc:        "the server's own Lock and Unlock RPC, under a lease that the client keeps alive",
		Source:     "etcd documentation, API reference: concurrency, service Lock",
		Topologies: []string{"etcd", "etcd-3"},
		Requests:   []string{"grant", "get", "lock", "keep-alive", "unlock", "revoke"},
		Reads:      []string{"get"},
		Own:        []string{"keep-alive"},
		Takes:      "lock",
		Traits:     lb.Traits{Fenced: true, Leased: true, Renewing: true, Push: true, Fair: true, Session: true, LostNotice: true},
		Expect:     onEtcd(compose.FencedLease()),
	}
}

func (v3lockImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := dialWatchful(ctx, env)
	if err != nil {
		return nil, err
	}
	return open(env, &v3lockClient{leases{env: env, etcd: c}, v3lockpb.NewLockClient(c.ActiveConnection())}), nil
}

type v3lockClient struct {
	leases
	locks v3lockpb.LockClient
}

func (c *v3lockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, err := c.grant(ctx, req)
	if t == nil {
		return nil, err
	}
	if err == nil && req.Try {
		err = c.free(ctx, req)
	}
	if err == nil {
		err = c.lock(ctx, req, t)
	}
	if err == nil {
		var lease *lb.Lease
		if lease, err = t.Hand(uint64(t.revision)); err == nil {
			return lease, nil
		}
	}
	if req.Try && lb.GaveUp(err) && ctx.Err() == nil {
		err = lb.ErrHeld
	}
	return nil, c.leave(ctx, req, err, c.Release)
}

// free looks whether anybody is in the queue: the RPC itself knows no try.
func (c *v3lockClient) free(ctx context.Context, req lb.Request) error {
	got, err := c.etcd.Get(For(ctx, req), prefix(req.Lock), clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("etcd: look at the queue: %w", err)
	}
	if got.Count > 0 {
		return lb.ErrHeld
	}
	return nil
}

func (c *v3lockClient) lock(ctx context.Context, req lb.Request, t *ticket) error {
	if req.Try { // somebody may have come since the look at the queue
		var cancel context.CancelFunc
		ctx, cancel = c.env.WithTimeout(ctx, c.env.TTL/10)
		defer cancel()
	}
	var locked *v3lockpb.LockResponse
	err := c.env.Wait(ctx, req, "lock", func(ctx context.Context) (err error) {
		locked, err = c.locks.Lock(For(ctx, req), &v3lockpb.LockRequest{Name: []byte(name(req.Lock)), Lease: int64(t.id)})
		return clientv3.ContextError(ctx, err)
	})
	if err != nil {
		return fmt.Errorf("etcd: Lock: %w", err)
	}
	t.key, t.revision = string(locked.Key), locked.Header.Revision
	return nil
}

// Release unlocks and revokes the lease: the reply to Unlock does not tell whether
// the lock was still held, that to the revocation does.
func (c *v3lockClient) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	t.Stop()
	if t.key != "" {
		if _, err := c.locks.Unlock(For(ctx, req), &v3lockpb.UnlockRequest{Key: []byte(t.key)}); err != nil {
			return fmt.Errorf("etcd: Unlock: %w", clientv3.ContextError(ctx, err))
		}
	}
	err := c.revoke(ctx, req, t)
	if errors.Is(err, lb.ErrLost) && t.Granted() && t.EndedByItself() {
		return lb.ErrReleased // perhaps long after the Unlock
	}
	return err
}
