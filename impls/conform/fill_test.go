package conform

import (
	"context"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/none"
)

// TestFillGoesOn: where one permit could not be had, the next time takes those that are missing, and no more.
func TestFillGoesOn(t *testing.T) {
	granted, asked := 0, 0
	b := &bench{times: timesOf(1, time.Second), impl: failsOnce{none.New(), &asked, &granted}, ttl: time.Second, lock: "fill"}
	if err := b.fill(t.Context(), b.lock); err == nil {
		t.Fatal("permit 2 of 4 was refused, and nobody says so")
	}
	for range 2 {
		if err := b.fill(t.Context(), b.lock); err != nil || granted != 3 {
			t.Errorf("%d permits are taken of 4, want 3: %v", granted, err)
		}
	}
}

// failsOnce has four permits, and refuses the second request.
type failsOnce struct {
	lb.Impl
	asked, granted *int
}

func (failsOnce) Info() lb.Info { return lb.Info{Name: "fails-once", Traits: lb.Traits{Permits: 4}} }

func (f failsOnce) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := f.Impl.Open(ctx, env)
	return failsOnceClient{c, f}, err
}

type failsOnceClient struct {
	lb.Client
	of failsOnce
}

func (c failsOnceClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if *c.of.asked++; *c.of.asked == 2 {
		return nil, lb.ErrHeld
	}
	*c.of.granted++
	return c.Client.Acquire(ctx, req)
}
