package etcd

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// TestLateRevocation: a lease that has ended by itself since the Unlock proves no loss, and one
// that somebody ended before does.
func TestLateRevocation(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	endpoints := labtest.Endpoints(labtest.Servers(t, "etcd"))
	for name, c := range map[string]struct {
		stalls time.Duration // before the revocation
		ended  bool          // by somebody else, before the release
		want   lb.Answer
	}{
		"at once":         {0, false, lb.AnswerOK},
		"after its lease": {4 * time.Second, false, lb.AnswerReleased},
		"of a lost lease": {0, true, lb.AnswerLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			session, err := V3Lock().Open(ctx, &lb.Env{Client: name, Servers: endpoints, TTL: time.Second, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1)), Probe: stalled(c.stalls)})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			req := lb.Request{Lock: name, Owner: "owner"}
			lease, err := session.Acquire(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			if c.ended {
				endLeases(ctx, t, endpoints[0], name)
				<-lease.Lost()
			}
			if err := session.Release(ctx, req); lb.AnswerOf(err) != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// endLeases ends the leases of all that stand in line for a lock.
func endLeases(ctx context.Context, t *testing.T, endpoint, lock string) {
	t.Helper()
	admin, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Context: ctx, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	queue, err := admin.Get(ctx, prefix(lock), clientv3.WithPrefix())
	if err != nil || len(queue.Kvs) == 0 {
		t.Fatalf("nobody stands in line for %s: %v", lock, err)
	}
	for _, kv := range queue.Kvs {
		if _, err := admin.Revoke(ctx, clientv3.LeaseID(kv.Lease)); err != nil {
			t.Fatal(err)
		}
	}
}

// stalled is a probe that keeps a client for so long from ending its lease.
type stalled time.Duration

func (s stalled) Step(ctx context.Context, m lb.Move) error {
	if m.Name == lb.Before("revoke") {
		return lb.HostClock{}.Sleep(ctx, time.Duration(s))
	}
	return ctx.Err()
}
func (stalled) Wait(context.Context, lb.Move) func() { return func() {} }
func (stalled) Go(lb.Actor) func()                   { return func() {} }
func (stalled) Renewed(*lb.Lease, lb.Reading)        {}
func (stalled) Lost(*lb.Lease, string)               {}
