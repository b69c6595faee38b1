package etcd

import (
	"context"
	"errors"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/kept"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see
// it: one line a mutant.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, allMutants())
}

func allMutants() []mutants.Mutant {
	single := func(looks bool) func(*leaseClient) lb.Client {
		return func(c *leaseClient) lb.Client { return single{c, &lb.Held[*ticket]{}, looks} }
	}
	expiry := explore.Bounds{Clients: 2, Acquisitions: 1, Polls: 1, Expiries: 1, Faults: 1}
	ended := explore.Bounds{Clients: 2, Acquisitions: 1, Polls: 1, Ended: 1, Faults: 1}
	return []mutants.Mutant{
		mutants.New(mutate("etcd-lease-no-recheck", func(c *leaseClient) lb.Client { return noRecheck{c} }),
			Lease(), "pause@after-put", lb.DoubleGrant, lb.Fence, lb.Broken).ByOrder(expiry, 40),
		mutants.New(mutate("etcd-single-by-key", single(false)),
			// Whose key a late release deletes is told of it, or another is granted first.
			mutate("etcd-single", single(true)), "pause-holder", lb.DoubleGrant, lb.Fence, lb.Broken).Or(lb.VanishedGrant).Brisk().ByOrder(expiry, 60),
		mutants.New(mutate("etcd-lease-ghost", func(c *leaseClient) lb.Client { return ghost{c} }),
			Lease(), "none", lb.Ghost, lb.Stuck, lb.Safe).Or(mutants.Outage).Doing("impatient"), // the ghost ends with its lease
		mutants.New(mutate("etcd-lease-by-clock", func(c *leaseClient) lb.Client { return byClock{c} }),
			// Who holds without its key is told that it is gone, or another is granted first.
			Lease(), "expire-waiter", lb.DoubleGrant, lb.Fence, lb.Broken).Or(lb.VanishedGrant).Brisk().ByOrder(ended, 40),
		mutants.New(watchingFrom("etcd-lease-deaf", true), watchingFrom("etcd-lease-from-revision", false),
			"compact", lb.Ghost, lb.Stuck),
		mutants.New(mutants.Leaving(Lease(), "leases", leaveLease), Lease(), "none", "leases at etcd1 grew", lb.Safe),
	}
}

// leaveLease grants itself an hour for each acquisition, and never gives it back.
func leaveLease(ctx context.Context, server, _ string) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{server}})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Grant(ctx, 3600)
	return err
}

// TestGhost: the conformance suite ends the context of one that waits, too, and sees what
// a clean-up with that very context leaves.
func TestGhost(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	const why = "the place in the queue is given up with a context that has ended"
	locktest.Run(t, mutate("etcd-lease-ghost", func(c *leaseClient) lb.Client { return ghost{c} }), locktest.Options{
		Servers:    labtest.Endpoints(labtest.Servers(t, "etcd")),
		RoundTrips: locktest.RoundTrips{Acquire: 1, Release: 1},
		Deviates:   map[string]string{"cancel": why, "deadline": why},
		Rare:       map[string]string{"unwatch": "as in TestConformance"},
	})
}

// mutant is etcd-lease with another client.
type mutant struct {
	leaseImpl
	name string
	open func(*leaseClient) lb.Client
}

func mutate(name string, open func(*leaseClient) lb.Client) lb.Impl {
	return mutant{name: name, open: open}
}

func (m mutant) Info() lb.Info {
	info := m.leaseImpl.Info()
	info.Name, info.Expect = m.name, nil
	return info
}

func (m mutant) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := dialWatchful(ctx, env)
	if err != nil {
		return nil, err
	}
	l, err := newLeaseClient(ctx, env, c)
	if err != nil {
		return nil, err
	}
	return open(env, m.open(l)), nil
}

// noRecheck believes in its grant whether its own key is still there or not, as the
// client library did until etcd issue 11456.
type noRecheck struct{ *leaseClient }

func (c noRecheck) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, before, err := c.enter(ctx, req)
	if t == nil {
		return nil, err
	}
	if err == nil {
		err = c.await(ctx, req, t, before)
	}
	if err != nil && !errors.Is(err, kept.ErrEnded) {
		return nil, err
	}
	lease := c.env.Grant(req, uint64(t.revision), 0)
	t.Tell(lease)
	return lease, nil
}

// ghost cleans up with the context that has just ended, and says that it did.
type ghost struct{ *leaseClient }

func (c ghost) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, before, err := c.enter(ctx, req)
	if t == nil {
		return nil, err
	}
	if err == nil {
		err = c.await(ctx, req, t, before)
	}
	if err == nil {
		return t.Hand(uint64(t.revision))
	}
	_ = c.Release(ctx, req)
	if errors.Is(err, lb.ErrHeld) {
		return nil, err
	}
	return nil, lb.NoEffect(err)
}

// single is a lock of one key, whose create revision says whose it is. Deleting it
// by name alone deletes whoever's it is by then (the client library's unlock does
// so: etcd issue 22082).
type single struct {
	*leaseClient
	taken *lb.Held[*ticket]
	looks bool // at the revision, before it deletes
}

func (c single) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		call := c.env.Clock.Mono()
		granted, err := c.etcd.Grant(For(ctx, req), seconds(c.env))
		if err != nil {
			return nil, lb.NoEffect(err)
		}
		c.taken.Put(req.Owner, &ticket{keeper: &keeper{id: granted.ID}})
		free := clientv3.Compare(clientv3.CreateRevision(name(req.Lock)), "=", 0)
		txn, err := c.etcd.Txn(For(ctx, req)).If(free).Then(clientv3.OpPut(name(req.Lock), "", clientv3.WithLease(granted.ID))).Commit()
		if err != nil {
			return nil, err
		}
		if !txn.Succeeded {
			_, err := c.etcd.Revoke(For(ctx, req), granted.ID)
			return nil, errors.Join(lb.ErrHeld, err)
		}
		c.taken.Put(req.Owner, &ticket{revision: txn.Header.Revision})
		return c.env.Grant(req, uint64(txn.Header.Revision), c.env.Validity(call)), nil
	})
}

func (c single) Release(ctx context.Context, req lb.Request) error {
	t, ok := c.taken.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if t.keeper != nil { // the outcome is unknown: nothing can be put under a revoked lease
		if _, err := c.etcd.Revoke(For(ctx, req), t.id); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return err
		}
		c.taken.Drop(req.Owner)
		return lb.ErrLost
	}
	ours := clientv3.Compare(clientv3.CreateRevision(name(req.Lock)), "=", t.revision)
	if !c.looks {
		ours = clientv3.Compare(clientv3.CreateRevision(name(req.Lock)), ">", 0)
	}
	txn, err := c.etcd.Txn(For(ctx, req)).If(ours).Then(clientv3.OpDelete(name(req.Lock))).Commit()
	if err != nil {
		return err
	}
	c.taken.Drop(req.Owner)
	if !txn.Succeeded {
		return lb.ErrLost
	}
	return nil
}
