package etcd

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// unsent is a probe that lets no resignation leave.
type unsent struct{ stalled }

func (unsent) Step(_ context.Context, m lb.Move) error {
	if m.Name == lb.Before("resign") {
		return errors.New("stopped")
	}
	return nil
}

// TestResignAgain: the library forgets a key that it could not delete, and a release that is asked for again gives the
// lock back all the same.
func TestResignAgain(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	endpoints := labtest.Endpoints(labtest.Servers(t, "etcd"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	const ttl = time.Minute
	open := func(name string, p lb.Probe) lb.Client {
		c, err := Election().Open(ctx, &lb.Env{Client: name, Servers: endpoints, TTL: ttl, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1)), Probe: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	one := open("one", unsent{})
	req := lb.Request{Lock: "lock", Owner: "first"}
	if _, err := one.Acquire(ctx, req); err != nil {
		t.Fatal(err)
	}
	if err := one.Release(ctx, req); lb.AnswerOf(err) != lb.AnswerUnknown {
		t.Fatalf("a resignation that does not leave: %v", err)
	}
	if err := one.Release(ctx, req); !errors.Is(err, lb.ErrReleased) {
		t.Errorf("asked for again: %v, want %v", err, lb.ErrReleased)
	}
	if _, err := open("other", nil).Acquire(ctx, lb.Request{Lock: "lock", Owner: "second"}); err != nil {
		t.Errorf("the lock is not free: %v", err)
	}
}
