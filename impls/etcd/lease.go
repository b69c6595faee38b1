package etcd

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/kept"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Lease is the lock that etcd's own documentation and its surveys describe, built
// from etcd's primitives:
//
//  1. grant a lease and keep it alive, also from one acquisition to the next;
//  2. put a key of one's own under the lock's prefix, bound to the lease, and read in
//     the same transaction which key is the youngest of those before it: who has none
//     before it, by create revision, holds the lock;
//  3. else watch that key, and once the watch is there look whether the key still is;
//  4. when it is gone, look whether there is another before one's own, since who stood
//     there may have given up, and whether the own key is still there: the lease may
//     have ended during the wait (etcd issue 11456);
//  5. delete the own key to release, or revoke the lease where it is not known whether
//     there is such a key: a put that is still on its way then fails.
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
		Requests:   []string{"put", "watch", "look", "unwatch", "delete", "keep-alive", "grant", "revoke"},
		Reads:      []string{"watch", "look", "unwatch"},
		Own:        []string{"keep-alive"},
		ByTheBook:  true,
		Takes:      "put",
		Traits:     lb.Traits{Fenced: true, Leased: true, Renewing: true, Push: true, Fair: true, Session: true, LostNotice: true},
		Expect:     onEtcd(compose.FencedLease()),
	}
}

func (leaseImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := dialWatchful(ctx, env)
	if err != nil {
		return nil, err
	}
	l, err := newLeaseClient(ctx, env, c)
	if err != nil {
		return nil, err
	}
	return open(env, l), nil
}

// newLeaseClient has a lease for the first acquisition.
func newLeaseClient(ctx context.Context, env *lb.Env, etcd *clientv3.Client) (*leaseClient, error) {
	c := &leaseClient{leases{env: env, etcd: etcd}}
	k, err := c.lease(ctx, lb.Request{})
	if err != nil {
		return nil, errors.Join(err, etcd.Close())
	}
	c.free = append(c.free, k)
	return c, nil
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
		if lease, err = t.Hand(uint64(t.revision)); err == nil {
			return lease, nil
		}
	}
	return nil, c.leave(ctx, req, err, c.Release)
}

// enter takes a lease and puts a key into the queue. It returns the key before it, "" if
// there is none.
func (c *leaseClient) enter(ctx context.Context, req lb.Request) (t *ticket, before string, err error) {
	if t, err = c.take(ctx, req); err != nil {
		return nil, "", err
	}
	before, err = c.put(ctx, req, t)
	if !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return t, before, err
	}
	// It has ended since the acquisition before, and this client was not told.
	t.Stop()
	c.held.Drop(req.Owner)
	if t, err = c.grant(ctx, req); err != nil {
		return nil, "", err
	}
	before, err = c.put(ctx, req, t)
	return t, before, err
}

func (c *leaseClient) put(ctx context.Context, req lb.Request, t *ticket) (before string, err error) {
	t.key = prefix(req.Lock) + req.Owner
	bounded, cancel := c.soon(ctx)
	defer cancel()
	// The reads of a transaction see what it has written, and an owner is never used
	// again: of the two youngest keys, the other is the one before this.
	put, err := c.etcd.Txn(as(bounded, req, "put")).
		Then(clientv3.OpPut(t.key, "", clientv3.WithLease(t.id)), clientv3.OpGet(prefix(req.Lock), youngest(2)...)).Commit()
	if err != nil {
		t.unsure = true
		return "", fmt.Errorf("etcd: put %s: %w", t.key, err)
	}
	t.revision = put.Header.Revision
	if queue := put.Responses[1].GetResponseRange().Kvs; len(queue) > 1 {
		before = string(queue[1].Key)
	}
	return before, nil
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
	// hear returns the revision up to which the news are known.
	hear := func(what string, enough func(clientv3.WatchResponse) bool) (revision int64, err error) {
		err = c.env.Wait(ctx, req, what, func(ctx context.Context) error {
			for w := range news {
				if err := w.Err(); err != nil {
					return fmt.Errorf("etcd: watch %s: %w", key, err)
				}
				if revision = w.Header.Revision; enough(w) {
					return nil
				}
			}
			return errors.Join(ctx.Err(), errors.New("etcd: watch ended"))
		})
		return revision, err
	}
	deleted := func(w clientv3.WatchResponse) bool { return len(w.Events) > 0 }
	revision, err := hear("watch", func(w clientv3.WatchResponse) bool { return w.Created || deleted(w) })
	if err != nil {
		return "", err
	}
	before, err = c.look(ctx, req, t, revision)
	if err != nil || before != key {
		return before, err
	}
	if revision, err = hear("predecessor", deleted); err != nil {
		return "", err
	}
	return c.look(ctx, req, t, revision)
}

// look reads which key is before ours, and wants ours to be there still, by what was
// known at a revision or later. The server that is asked answers by itself, without a
// word from the others; only one that is behind has to ask them. If the lease ends after
// that revision, the client knows by its own clock.
func (c *leaseClient) look(ctx context.Context, req lb.Request, t *ticket, revision int64) (before string, err error) {
	bounded, cancel := c.soon(ctx)
	defer cancel()
	queue := append(youngest(2), clientv3.WithMaxCreateRev(t.revision))
	got, err := c.etcd.Get(as(bounded, req, "look"), prefix(req.Lock), append(queue, clientv3.WithSerializable())...)
	if err == nil && got.Header.Revision < max(revision, t.revision) {
		got, err = c.etcd.Get(as(bounded, req, "look"), prefix(req.Lock), queue...)
	}
	if err != nil {
		return "", fmt.Errorf("etcd: read the queue: %w", err)
	}
	if len(got.Kvs) == 0 || got.Kvs[0].CreateRevision != t.revision {
		return "", lb.NoEffect(kept.ErrEnded)
	}
	if len(got.Kvs) == 1 {
		return "", nil
	}
	return string(got.Kvs[1].Key), nil
}

// Release deletes the key. Only one that was there, of a lock that was granted, can have
// protected a holder until now. Where it is not known what became of the key, the lease
// ends, and the lock with it.
func (c *leaseClient) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if t.unsure {
		return c.revoke(ctx, req, t)
	}
	unlock := &call{req: req}
	deleted, err := c.etcd.Delete(unlock.in(ctx), t.key)
	if err != nil {
		t.unsure = true
		t.Stop() // a lock that can't be released must at least expire
		return fmt.Errorf("etcd: delete %s: %w", t.key, err)
	}
	granted := t.Granted()
	if deleted.Deleted == 0 {
		t.Stop() // the lease has ended, or else somebody meddles
		c.held.Drop(req.Owner)
		if granted && unlock.sent > 1 {
			return lb.ErrReleased
		}
		return lb.ErrLost
	}
	c.leaveFree(req, t)
	if !granted {
		return lb.ErrLost
	}
	return nil
}
