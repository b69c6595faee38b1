package redis

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/redis/go-redis/v9"
)

// TestReentrantAnew ends the outer lease before the inner acquire: that is a grant of
// its own, which holds until its own release and leaves the outer one lost.
func TestReentrantAnew(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	servers := labtest.Endpoints(labtest.Servers(t, "redis"))
	admin := redis.NewClient(&redis.Options{Addr: servers[0]})
	defer admin.Close()
	outer, inner, third := lb.Request{Lock: "lock", Owner: "outer"}, lb.Request{Lock: "lock", Owner: "inner"}, lb.Request{Lock: "lock", Owner: "third"}
	for _, row := range []struct {
		name string
		free bool // the lock, before the inner acquire
		// first is released first, and wants says how each release ends.
		first, last           lb.Request
		wantsFirst, wantsLast error
		between               int64 // keys that are left between the releases
	}{
		{"held, inner first", false, inner, outer, nil, nil, 1},
		{"held, outer first", false, outer, inner, nil, nil, 1},
		{"free, inner first", true, inner, outer, nil, lb.ErrLost, 0},
		{"free, outer first", true, outer, inner, lb.ErrLost, nil, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			admin.FlushDB(ctx)
			// No renewal is due while the test lasts: none tells of the loss first.
			c, err := Reentrant().Open(ctx, &lb.Env{Client: "c", Servers: servers, TTL: 5 * time.Minute, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			acquire := func(req lb.Request) *lb.Lease {
				t.Helper()
				lease, err := c.Acquire(ctx, req)
				if err != nil {
					t.Fatalf("acquire %s: %v", req.Owner, err)
				}
				return lease
			}
			release := func(req lb.Request, wants error) {
				t.Helper()
				if err := c.Release(ctx, req); !errors.Is(err, wants) {
					t.Errorf("release %s: %v, want %v", req.Owner, err, wants)
				}
			}
			keys := func(want int64) {
				t.Helper()
				if n, err := admin.Exists(ctx, "lock").Result(); n != want || err != nil {
					t.Errorf("%d keys (%v), want %d", n, err, want)
				}
			}
			a := acquire(outer)
			if row.free {
				if n, err := admin.Del(ctx, "lock").Result(); n != 1 || err != nil {
					t.Fatalf("deleted %d keys: %v", n, err)
				}
			}
			b := acquire(inner)
			if a.Valid() == row.free || !b.Valid() {
				t.Errorf("outer lease valid: %v, inner: %v", a.Valid(), b.Valid())
			}
			release(row.first, row.wantsFirst)
			keys(row.between)
			release(row.last, row.wantsLast)
			keys(0)
			// Nothing is left of it that a later acquisition would keep.
			acquire(third)
			release(third, nil)
			keys(0)
		})
	}
}

// TestReentrantNotRevived lets a client that lost the lock acquire it anew and hold it
// for several renewals: they extend the new lease and not the old one.
func TestReentrantNotRevived(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	servers := labtest.Endpoints(labtest.Servers(t, "redis"))
	admin := redis.NewClient(&redis.Options{Addr: servers[0]})
	defer admin.Close()
	const ttl = 1500 * time.Millisecond
	c, err := Reentrant().Open(ctx, &lb.Env{Client: "c", Servers: servers, TTL: ttl, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	outer, inner := lb.Request{Lock: "lock", Owner: "outer"}, lb.Request{Lock: "lock", Owner: "inner"}
	old, err := c.Acquire(ctx, outer)
	if err != nil {
		t.Fatal(err)
	}
	admin.Del(ctx, "lock")
	lease, err := c.Acquire(ctx, inner)
	if err != nil {
		t.Fatal(err)
	}
	end := old.Until()
	time.Sleep(2 * ttl)
	if old.Valid() || old.Until() != end {
		t.Errorf("the old lease was extended by %v", time.Duration(old.Until()-end))
	}
	if !lease.Valid() {
		t.Error("the new lease was not renewed")
	}
	if err := c.Release(ctx, inner); err != nil {
		t.Errorf("release: %v", err)
	}
	if err := c.Release(ctx, outer); !errors.Is(err, lb.ErrLost) {
		t.Errorf("release of what was lost: %v", err)
	}
}
