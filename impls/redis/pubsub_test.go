package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/redis/go-redis/v9"
)

// TestBrokenSubscription ends the connection on which a client waits: it must make
// another, under the eyes of the bench and not by the driver's own will, and be woken.
func TestBrokenSubscription(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	servers := labtest.Endpoints(labtest.Servers(t, "redis"))
	admin := redis.NewClient(&redis.Options{Addr: servers[0]})
	defer admin.Close()
	var seen subscriptions
	open := func(name string) lb.Client {
		c, err := Watchdog().Open(ctx, &lb.Env{Client: name, Servers: servers, TTL: 20 * time.Second, Clock: lb.HostClock{},
			Rand: rand.New(rand.NewPCG(1, 1)), Probe: &seen})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	holder, waiter := open("holder"), open("waiter")
	held := lb.Request{Lock: "lock", Owner: "holder"}
	if _, err := holder.Acquire(ctx, held); err != nil {
		t.Fatal(err)
	}
	granted := make(chan error, 1)
	go func() {
		_, err := waiter.Acquire(ctx, lb.Request{Lock: "lock", Owner: "waiter"})
		granted <- err
	}()
	for n := range int64(3) {
		for seen.Load() <= n && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		if n < 2 {
			if err := admin.ClientKillByFilter(ctx, "type", "pubsub").Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := holder.Release(ctx, held); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-granted:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("not woken")
	}
	stats, err := admin.Info(ctx, "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	sent := regexp.MustCompile(`cmdstat_subscribe:calls=(\d+)`).FindStringSubmatch(stats)
	if sent == nil || sent[1] != fmt.Sprint(seen.Load()) {
		t.Errorf("the server was sent %v subscriptions, the bench has seen %d", sent, seen.Load())
	}
}

// subscriptions is a probe that counts them.
type subscriptions struct{ atomic.Int64 }

func (s *subscriptions) Step(ctx context.Context, m lb.Move) error {
	if m.Name == lb.After("subscribe") {
		s.Add(1)
	}
	return ctx.Err()
}
func (*subscriptions) Wait(context.Context, lb.Move) func() { return func() {} }
func (*subscriptions) Go(lb.Actor) func()                   { return func() {} }
func (*subscriptions) Renewed(*lb.Lease, lb.Reading)        {}
func (*subscriptions) Lost(*lb.Lease, string)               {}
