package zk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/zk"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestWakeUps counts how many waiters each release wakes: all of them where they
// watch one node, and one where each watches its predecessor.
func TestWakeUps(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	const waiters, releases = 16, 20
	servers := labtest.Endpoints(labtest.Servers(t, "zookeeper"))
	for _, tt := range []struct {
		impl lb.Impl
		want int // wake-ups a release
	}{
		{zk.Herd(), waiters},
		{zk.Sequential(), 1},
		{zk.Container(), 1},
		{zk.RW(), 1},
	} {
		t.Run(tt.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var line line
			granted := make(chan func(), waiters+1)
			for i := range waiters + 1 {
				env := &lb.Env{Client: fmt.Sprint(i), Servers: servers, TTL: 10 * time.Second, Clock: lb.HostClock{},
					Rand: rand.New(rand.NewPCG(1, uint64(i))), Probe: &line}
				c, err := tt.impl.Open(ctx, env)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				go again(ctx, c, env.Client, granted)
			}
			var woken int64
			for range releases {
				release := <-granted
				for line.waiting.Load() < waiters && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				before := line.woken.Load()
				release()
				next := <-granted
				for line.waiting.Load() < waiters && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				woken += line.woken.Load() - before
				granted <- next
			}
			if got := float64(woken) / releases; got != float64(tt.want) {
				t.Errorf("%.2f wake-ups a release with %d waiters, want %d", got, waiters, tt.want)
			}
		})
	}
}

// again takes the lock and hands out its release, again and again.
func again(ctx context.Context, c lb.Client, name string, granted chan<- func()) {
	for n := 0; ctx.Err() == nil; n++ {
		req := lb.Request{Lock: "wake-ups", Owner: fmt.Sprintf("%s.%d", name, n)}
		if _, err := c.Acquire(ctx, req); err != nil {
			return
		}
		released := make(chan struct{})
		granted <- func() {
			_ = c.Release(ctx, req)
			close(released)
		}
		select {
		case <-released:
		case <-ctx.Done():
		}
	}
}

// line is a probe that counts those who wait for a watch, and those woken.
type line struct{ waiting, woken atomic.Int64 }

func (l *line) Wait(_ context.Context, m lb.Move) func() {
	if m.Name != "watch" {
		return func() {}
	}
	l.waiting.Add(1)
	return func() {
		l.woken.Add(1)
		l.waiting.Add(-1)
	}
}
func (*line) Step(ctx context.Context, _ lb.Move) error { return ctx.Err() }
func (*line) Go(lb.Actor) func()                        { return func() {} }
func (*line) Renewed(*lb.Lease, lb.Reading)             {}
func (*line) Lost(*lb.Lease, string)                    {}
