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
//  2. put a key of one's own under the lock's prefix, bound to the lease, and read in
//     the same transaction which key is the youngest of those before it: who has none
//     before it, by create revision, holds the lock;
//  3. else watch that key, and once the watch is there look whether the key still is;
//  4. when it is gone, look whether there is another before one's own, since who stood
//     there may have given up, and whether the own key is still there: the lease may
//     have ended during the wait (etcd issue 11456);
//  5. revoke the lease to release.
//
// The create revision is the fencing token: etcd counts it up for ever.
//
// The watch does not begin at the revision that was read. One that begins in the past,
// if only by the write of another lock, is served by a loop that the server runs every
// 100 ms, and a hand-off then takes 6 ms on the average of 16 clients.
func Lease() lb.Impl { return leaseImpl{} }

type leaseImpl struct{}

func (leaseImpl) Info() lb.Info {
	return lb.Info{
		Name:       "etcd-lease",
		Doc:        "a key under a prefix bound to a lease; lowest create revision holds; watch the predecessor",
		Source:     "etcd documentation, concurrency API; etcd issue 11456 for the second look",
		Topologies: []string{"etcd", "etcd-3"},
		Requests:   []string{"grant", "put", "watch", "look", "unwatch", "keep-alive", "revoke"},
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
	t, before, err := c.enter(ctx, req)
	if t == nil {
		return nil, err
	}
	if err == nil && before != "" {
		err = c.await(ctx, req, t, before)
	}
	if err == nil {
		var lease *lb.Lease
		if lease, err = t.hand(uint64(t.revision)); err == nil {
			return lease, nil
		}
	}
	return nil, c.leave(ctx, req, err, c.Release)
}

// enter takes a lease and puts a key into the queue. It returns the key before it, "" if
// there is none.
func (c *leaseClient) enter(ctx context.Context, req lb.Request) (t *ticket, before string, err error) {
	t, err = c.grant(ctx, req)
	if err != nil {
		return t, "", err
	}
	t.key = prefix(req.Lock) + req.Owner
	bounded, cancel := c.soon(ctx)
	defer cancel()
	// The reads of a transaction see what it has written, and an owner is never used
	// again: of the two youngest keys, the other is the one before this.
	put, err := c.etcd.Txn(as(bounded, req, "put")).
		Then(clientv3.OpPut(t.key, "", clientv3.WithLease(t.id)), clientv3.OpGet(prefix(req.Lock), youngest(2)...)).Commit()
	if err != nil {
		return t, "", fmt.Errorf("etcd: put %s: %w", t.key, err)
	}
	t.revision = put.Header.Revision
	if queue := put.Responses[1].GetResponseRange().Kvs; len(queue) > 1 {
		before = string(queue[1].Key)
	}
	return t, before, nil
}

// youngest reads n keys of a queue, the last that came first.
func youngest(n int64) []clientv3.OpOption {
	return []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend),
		clientv3.WithLimit(n), clientv3.WithKeysOnly()}
}

// await returns when no key of the queue is older than ours.
func (c *leaseClient) await(ctx context.Context, req lb.Request, t *ticket, before string) error {
	for before != "" {
		if req.Try {
			return lb.ErrHeld
		}
		next, err := c.awaitDelete(ctx, req, t, before)
		if err != nil {
			return err
		}
		before = next
	}
	return nil
}

// awaitDelete returns when the key is gone, and which is before ours then.
func (c *leaseClient) awaitDelete(ctx context.Context, req lb.Request, t *ticket, key string) (before string, err error) {
	watching, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	news := c.etcd.Watch(watching, key, clientv3.WithCreatedNotify(), clientv3.WithFilterPut())
	hear := func(what string, enough func(clientv3.WatchResponse) bool) error {
		return c.env.Wait(ctx, req, what, func(ctx context.Context) error {
			for w := range news {
				if err := w.Err(); err != nil {
					return fmt.Errorf("etcd: watch %s: %w", key, err)
				}
				if enough(w) {
					return nil
				}
			}
			return errors.Join(ctx.Err(), errors.New("etcd: watch ended"))
		})
	}
	if err := hear("watch", func(w clientv3.WatchResponse) bool { return w.Created || len(w.Events) > 0 }); err != nil {
		return "", err
	}
	before, err = c.look(ctx, req, t)
	if err != nil || before != key {
		return before, err
	}
	if err := hear("predecessor", func(w clientv3.WatchResponse) bool { return len(w.Events) > 0 }); err != nil {
		return "", err
	}
	return c.look(ctx, req, t)
}

// look reads which key is before ours, and wants ours to be there still.
func (c *leaseClient) look(ctx context.Context, req lb.Request, t *ticket) (before string, err error) {
	bounded, cancel := c.soon(ctx)
	defer cancel()
	got, err := c.etcd.Get(as(bounded, req, "look"), prefix(req.Lock), append(youngest(2), clientv3.WithMaxCreateRev(t.revision))...)
	if err != nil {
		return "", fmt.Errorf("etcd: read the queue: %w", err)
	}
	if len(got.Kvs) == 0 || got.Kvs[0].CreateRevision != t.revision {
		return "", compose.NoEffect(errEnded)
	}
	if len(got.Kvs) == 1 {
		return "", nil
	}
	return string(got.Kvs[1].Key), nil
}

// Release revokes the lease, and with it the key.
func (c *leaseClient) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	return c.revoke(ctx, req, t)
}
