package published

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestZooKeeperMistakes keeps the listings from being repaired by accident: each
// must still go wrong in the way that docs/published.md says.
func TestZooKeeperMistakes(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	servers := labtest.Endpoints(labtest.Servers(t, "zookeeper"))
	const ttl = 600 * time.Millisecond
	open := func(t *testing.T, impl lb.Impl, name string) lb.Client {
		env := &lb.Env{Client: name, Servers: servers, TTL: ttl, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
		c, err := impl.Open(t.Context(), env)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	acquire := func(t *testing.T, c lb.Client, owner string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Acquire(ctx, lb.Request{Lock: "l", Owner: owner})
		return err
	}
	release := func(t *testing.T, c lb.Client, owner string) {
		if err := c.Release(t.Context(), lb.Request{Lock: "l", Owner: owner}); !errors.Is(err, lb.ErrReleased) {
			t.Error(err)
		}
	}

	t.Run("a wait that times out is a grant", func(t *testing.T) {
		a, b := open(t, ZKDistributedLock(), "a"), open(t, ZKDistributedLock(), "b")
		if err := acquire(t, a, "a1"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := acquire(t, b, "b1"); err != nil {
			t.Errorf("while another held the lock: %v, want a grant", err)
		}
		if waited := time.Since(start); waited < ttl {
			t.Errorf("granted after %v, before the wait of %v was over", waited, ttl)
		}
		release(t, b, "b1")
		release(t, a, "a1")
	})
	t.Run("a path is kept for the next lock", func(t *testing.T) {
		a, b := open(t, ZKImproveLock(), "a"), open(t, ZKImproveLock(), "b")
		if err := acquire(t, a, "a1"); err != nil {
			t.Fatal(err)
		}
		release(t, a, "a1")
		if err := acquire(t, b, "b1"); err != nil {
			t.Fatal(err)
		}
		if err := acquire(t, a, "a2"); err == nil || !strings.Contains(err.Error(), "NullPointerException") {
			t.Errorf("second lock under contention: %v, want a NullPointerException", err)
		}
		release(t, b, "b1")
	})
}
