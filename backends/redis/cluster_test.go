package redis_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

// leader is the one server that says that it leads, within a while.
func leader(t *testing.T, top lab.Topology, servers []*lab.Server) *lab.Server {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 30*time.Second; {
		for _, s := range servers {
			if leads, err := top.Kind.Leads(t.Context(), s.Endpoint()); leads && err == nil {
				return s
			}
		}
	}
	t.Fatal("nobody leads")
	return nil
}

// TestCluster: the master of the lock's slot leads, one server follows it, which has what it had when people hand over.
func TestCluster(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	if redis.DefaultLock != workloads.DefaultLock {
		t.Errorf("clients are about the lock %q, and the leader is that of %q", workloads.DefaultLock, redis.DefaultLock)
	}
	top, _ := backends.Topology("redis-cluster")
	servers, ctx := labtest.Servers(t, top.Name), t.Context()
	first := leader(t, top, servers)
	if first != servers[0] {
		t.Errorf("%s leads at first", first.Name())
	}
	var followers []*lab.Server
	for _, s := range servers[1:] {
		of, err := top.Kind.Follows(ctx, s.Endpoint())
		must(t, err)
		if of == first.Endpoint() {
			followers = append(followers, s)
		}
		if leads, err := top.Kind.Leads(ctx, s.Endpoint()); leads || err != nil {
			t.Errorf("%s leads, too: %v, %v", s.Name(), leads, err)
		}
	}
	if len(followers) != 1 {
		t.Fatalf("%d servers follow the leader", len(followers))
	}
	if of, err := top.Kind.Follows(ctx, servers[1].Endpoint()); err != nil || of == "" {
		t.Errorf("the second is a master, and would be cut off together with the first: follows %q, %v", of, err)
	}
	c := goredis.NewClient(&goredis.Options{Addr: first.Endpoint(), MaxRetries: -1})
	defer c.Close()
	must(t, c.Set(ctx, redis.DefaultLock, "me", time.Minute).Err())
	e, err := first.Operate(ctx, lab.FailOver, "")
	if err != nil || e.Count != 1 || !strings.HasSuffix(e.Told, followers[0].Endpoint()) {
		t.Errorf("hand over: %+v, %v", e, err)
	}
	for begin := time.Now(); leader(t, top, servers) != followers[0]; {
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("%s does not lead", followers[0].Name())
		}
	}
	heir := goredis.NewClient(&goredis.Options{Addr: followers[0].Endpoint(), MaxRetries: -1})
	defer heir.Close()
	if owner, err := heir.Get(ctx, redis.DefaultLock).Result(); err != nil || owner != "me" {
		t.Errorf("the lock is %q's after that, %v", owner, err)
	}
	yard, err := top.Kind.Yardstick(ctx, followers[0].Endpoint())
	must(t, err)
	defer yard.Close()
	must(t, yard.Floor(ctx), yard.Writes(ctx))
	for _, full := range []lab.Operation{lab.EvictLRU, lab.FlushAll} {
		must(t, heir.Set(ctx, redis.DefaultLock, "me", time.Minute).Err())
		e, err := followers[0].Operate(ctx, full, "")
		if err != nil || e.Count != 1 {
			t.Errorf("%s: %+v, %v", full, e, err)
		}
		if e.End != nil {
			_, err := e.End(ctx)
			must(t, err)
		}
	}
}

// TestMinority: a master that hears no other takes writes for a while, and then no more.
func TestMinority(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	top, _ := backends.Topology("redis-cluster")
	servers, ctx := labtest.Servers(t, top.Name), t.Context()
	alone := leader(t, top, servers)
	c := goredis.NewClient(&goredis.Options{Addr: alone.Endpoint(), MaxRetries: -1})
	defer c.Close()
	cut := time.Now()
	for _, s := range servers {
		if s != alone {
			must(t, s.Signal(syscall.SIGSTOP))
			t.Cleanup(func() { _ = s.Signal(syscall.SIGCONT) })
		}
	}
	taken := 0
	err := error(nil)
	for err == nil && time.Since(cut) < 30*time.Second {
		if err = c.Set(ctx, redis.DefaultLock, "me", 0).Err(); err == nil {
			taken++
		}
	}
	if !goredis.HasErrorPrefix(err, "CLUSTERDOWN") || taken == 0 {
		t.Errorf("%d writes, and then %v", taken, err)
	}
	t.Logf("it took writes for %.3f s, %d of them", time.Since(cut).Seconds(), taken)
	if leads, err := top.Kind.Leads(ctx, alone.Endpoint()); leads || err != nil {
		t.Errorf("it leads: %v, %v", leads, err)
	}
}
