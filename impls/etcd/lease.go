package etcd

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Lease is the lock that etcd's own documentation and its surveys describe, built
// from etcd's primitives:
//
//  1. grant a lease and keep it alive;
//  2. put a key of one's own under the lock's prefix, bound to the lease;
//  3. who has the lowest create revision under the prefix holds the lock; others
//     wait for the deletion of the key just before theirs;
//  4. look again whether the own key is still there: the lease may have ended
//     during the wait (etcd issue 11456);
//  5. revoke the lease to release.
//
// The create revision is the fencing token: etcd counts it up for ever.
func Lease() lb.Impl { return leaseImpl{} }

type leaseImpl struct{}

func (leaseImpl) Info() lb.Info {
	return lb.Info{
		Name:       "etcd-lease",
		Doc:        "a key under a prefix bound to a lease; lowest create revision holds; watch the predecessor",
		Source:     "etcd documentation, concurrency API; etcd issue 11456 for the second look",
		Topologies: []string{"etcd", "etcd-3"},
		Requests:   []string{"grant", "put", "get", "watch", "unwatch", "recheck", "keep-alive", "revoke"},
		Takes:      "put",
		Traits:     lb.Traits{Fenced: true, Leased: true, Renewing: true, Push: true, Fair: true, LostNotice: true},
		Expect:     onEtcd(compose.FencedLease()),
	}
}

func (leaseImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := dialWatchful(ctx, env)
	if err != nil {
		return nil, err
	}
	return open(&leaseClient{leases{env: env, etcd: c}}), nil
}

type leaseClient struct{ leases }

func (c *leaseClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, err := c.enter(ctx, req)
	if t == nil {
		return nil, err
	}
	if err == nil {
		err = c.await(ctx, req, t)
	}
	if err == nil {
		err = c.recheck(ctx, req, t)
	}
	if err == nil {
		var lease *lb.Lease
		if lease, err = t.hand(uint64(t.revision)); err == nil {
			return lease, nil
		}
	}
	return nil, c.leave(ctx, req, err, c.Release)
}

// enter takes a lease and puts a key into the queue.
func (c *leaseClient) enter(ctx context.Context, req lb.Request) (*ticket, error) {
	t, err := c.grant(ctx, req)
	if err != nil {
		return t, err
	}
	t.key = prefix(req.Lock) + req.Owner
	bounded, cancel := c.soon(ctx)
	defer cancel()
	put, err := c.etcd.Put(For(bounded, req), t.key, "", clientv3.WithLease(t.id))
	if err != nil {
		return t, fmt.Errorf("etcd: put %s: %w", t.key, err)
	}
	t.revision = put.Header.Revision
	return t, nil
}

// await returns when no key of the queue is older than ours.
func (c *leaseClient) await(ctx context.Context, req lb.Request, t *ticket) error {
	older := append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(t.revision-1))
	for {
		bounded, cancel := c.soon(ctx)
		got, err := c.etcd.Get(For(bounded, req), prefix(req.Lock), older...)
		cancel()
		if err != nil {
			return fmt.Errorf("etcd: read the queue: %w", err)
		}
		if len(got.Kvs) == 0 {
			return nil
		}
		if req.Try {
			return lb.ErrHeld
		}
		if err := c.env.Wait(ctx, req, "predecessor", func(ctx context.Context) error {
			return c.awaitDelete(ctx, string(got.Kvs[0].Key), got.Header.Revision+1)
		}); err != nil {
			return err
		}
	}
}

func (c *leaseClient) awaitDelete(ctx context.Context, key string, from int64) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for w := range c.etcd.Watch(ctx, key, clientv3.WithRev(from), clientv3.WithFilterPut()) {
		if err := w.Err(); err != nil {
			return fmt.Errorf("etcd: watch %s: %w", key, err)
		}
		if len(w.Events) > 0 {
			return nil
		}
	}
	return errors.Join(ctx.Err(), errors.New("etcd: watch ended"))
}

// recheck is the look at one's own key after the wait.
func (c *leaseClient) recheck(ctx context.Context, req lb.Request, t *ticket) error {
	bounded, cancel := c.soon(ctx)
	defer cancel()
	got, err := c.etcd.Get(as(bounded, req, "recheck"), t.key)
	if err != nil {
		return fmt.Errorf("etcd: read %s: %w", t.key, err)
	}
	if len(got.Kvs) == 0 || got.Kvs[0].CreateRevision != t.revision {
		return compose.NoEffect(errors.New("etcd: the lease ended while waiting"))
	}
	return nil
}

// Release revokes the lease, and with it the key.
func (c *leaseClient) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	return c.revoke(ctx, req, t)
}
