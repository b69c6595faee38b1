package nats

import (
	"context"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/nats"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see it: one line a mutant.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, allMutants())
}

func allMutants() []mutants.Mutant {
	race := explore.Bounds{Clients: 2, Acquisitions: 1, Polls: 1}
	return []mutants.Mutant{
		mutants.New(AnyDelete(), KV(), "release-twice", lb.DoubleGrant, lb.Broken),
		mutants.New(mutate("nats-kv-begun-seconds", KV(), func(s *session) lb.Client { return begun{kv{s}} }),
			KV(), "pause-holder", lb.DoubleGrant, lb.Fence).Leased(1900 * time.Millisecond),
		mutants.New(mutate("nats-kv-overwrites", KV(), func(s *session) lb.Client { return overwriter{kv{s}} }),
			KV(), "none", lb.DoubleGrant, lb.Fence).ByOrder(race, 200),
		mutants.New(mutate("nats-kv-lease-puts", Lease(), func(s *session) lb.Client { return &putter{leased{session: s}} }),
			Lease(), "pause-holder", lb.DoubleGrant, lb.Fence).Or(lb.VanishedGrant),
		mutants.New(mutants.Leaving(KV(), "keys", leaveKey), KV(), "none", "keys at nats1 grew", lb.Safe),
	}
}

// mutate is a lock with another client.
func mutate(name string, of lb.Impl, open func(*session) lb.Client) lb.Impl {
	a := of.(algorithm)
	a.info.Name, a.info.Expect, a.open = name, nil, open
	return a
}

// begun tells NATS the lease as it is, and NATS drops the part of a second.
type begun struct{ kv }

func (c begun) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.acquire(ctx, req, c.env.TTL)
}

// overwriter writes, where it has read that the key is gone, whatever is there by then.
type overwriter struct{ kv }

func (c overwriter) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		found, err := c.get(ctx, req)
		if err != nil {
			return nil, lb.NoEffect(err)
		}
		if !found.Gone {
			return nil, lb.ErrHeld
		}
		return c.create(ctx, req, backend.Any, wholeSeconds(c.env.TTL))
	})
}

// putter renews by the library's Put, which looks at no revision.
type putter struct{ leased }

func (c *putter) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.acquire(ctx, req, 0)
	if err == nil {
		c.stops.Put(req.Owner, lease.Renew(func(ctx context.Context) error {
			revision, _, err := c.put(ctx, req, "update", backend.Any, 0)
			if err == nil {
				c.held.Put(req.Owner, revision)
			}
			return err
		}))
	}
	return lease, err
}

// leaveKey makes a key that nobody deletes, and that has no end.
func leaveKey(ctx context.Context, server, name string) error {
	c, err := backend.Dial([]string{server}, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = backend.KV{Conn: c, Bucket: backend.BucketName(0)}.Put(ctx, key(name), "left", backend.Any, 0)
	return err
}
