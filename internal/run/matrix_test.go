package run_test

import (
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/etcd"
	"github.com/lockbench/lockbench/impls/mysql"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/impls/zk"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/workloads"
)

// TestWhere: a fault strikes where there is something to strike, and what has to do with
// sessions and leaders strikes an ensemble, unless the user says where.
func TestWhere(t *testing.T) {
	m := run.Matrix{Catalog: things(), Workload: workloads.Counter{}, Base: history.Plan{Lab: "local", Workload: "counter"}}
	for _, c := range []struct {
		impl        lb.Impl
		fault, want string
	}{
		{zk.Sequential(), "none", "zookeeper"},
		{zk.Sequential(), "pause-holder", "zookeeper"},
		{zk.Sequential(), "cut-holder", "zookeeper-3"},
		{zk.Sequential(), "cut@after-create/0.7ttl", "zookeeper-3"},
		{zk.Sequential(), "expire-waiter", "zookeeper-3"},
		{zk.Sequential(), "kill-leader", "zookeeper-3"},
		{zk.Sequential(), "kill-two", "zookeeper-5"},
		{zk.Sequential(), "flushall", "zookeeper"}, // where it can't strike
		{etcd.Lease(), "restart-server", "etcd-3"},
		{etcd.Lease(), "restart-empty", "etcd"},
		{etcd.Lease(), "random", "etcd-3"},
		{redis.SetPXLua(), "cut-holder", "redis"},
		{redis.SetPXLua(), "random", "redis"},
	} {
		f, err := m.Catalog.Fault(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.For(c.impl, f, 0).Topology; got != c.want {
			t.Errorf("%s × %s on %s, want %s", c.impl.Info().Name, c.fault, got, c.want)
		}
		own := m
		own.Base.Topology = "mine"
		if got := own.For(c.impl, f, 0).Topology; got != "mine" {
			t.Errorf("%s × %s on %s, though the user said where", c.impl.Info().Name, c.fault, got)
		}
	}
}

// TestBrief: what lasts a hundredth of a lease shows nothing of what the fault does to leases.
func TestBrief(t *testing.T) {
	m := run.Matrix{Catalog: things(), Workload: workloads.Counter{}, Base: history.Plan{Lab: "local", Workload: "counter"}}
	for fault, want := range map[string]bool{
		"pause-holder": false, "pause-holder/1ms": true, "pause-holder/0.7ttl": false, "pause@before-write/0.05ttl": true, "client-clock/1ms": true, "lossy-link/1ms": true,
		"cut-rejoin/10ms": true, "slow-work/129ms": true, "slow-work/131ms": false, "kill-holder/1ms": false, "kill-leader/1ms": false, "none": false,
		"slow-server/20ms": true, "slow-server": false, "slow-reply/1ms": true, "slow-reply": false, "reset-grant/1ms": false, "reset-reply/1ms": false, "idle-holder/1ms": false,
		"pause-holder/1ms,cut-holder/1ms": true, "pause-holder,cut-holder/1ms": true, "pause-holder,cut-holder": false, "random": false,
	} {
		f, err := m.Catalog.Fault(fault)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.For(redis.SetPXLua(), f, 0).Brief; got != want {
			t.Errorf("%s: %t, want %t", fault, got, want)
		}
	}
}

// TestLeases are no whole seconds by default, whatever the fault needs: a TTL that a lock rounds is seen.
func TestLeases(t *testing.T) {
	m := run.Matrix{Catalog: things(), Workload: workloads.Counter{}, Base: history.Plan{Lab: "local", Workload: "counter"}}
	for _, f := range append(faults.All(), faults.More()...) {
		if ttl := m.For(redis.SetPXLua(), f, 0).TTL; ttl%time.Second == 0 || ttl < f.MinTTL {
			t.Errorf("%s with leases of %v", f.Name, ttl)
		}
	}
	m.Base.TTL = 3 * time.Second
	if ttl := m.For(redis.SetPXLua(), faults.All()[0], 0).TTL; ttl != m.Base.TTL {
		t.Errorf("leases of %v, though the user said %v", ttl, m.Base.TTL)
	}
}

// TestWork: there is long work where the lock is kept for as long, unless the user or the workload has none.
func TestWork(t *testing.T) {
	for _, c := range []struct {
		impl        lb.Impl
		work        workloads.Workload
		asked, want string
	}{
		{redis.Watchdog(), workloads.Counter{}, "", "2.5ttl"},
		{redis.Watchdog(), workloads.Counter{}, "7s", "7s"},
		{redis.Watchdog(), workloads.Counter{}, history.NoWork, history.NoWork},
		{redis.Watchdog(), workloads.Once{}, "", ""},
		{redis.SetPXLua(), workloads.Counter{}, "", ""},
		{redis.SetPXLua(), workloads.Counter{}, "7s", ""},
		{mysql.GetLock(), workloads.Counter{}, "", "2.5ttl"},
	} {
		m := run.Matrix{Catalog: things(), Workload: c.work, Base: history.Plan{Lab: "local", Work: c.asked}}
		p := m.For(c.impl, faults.All()[0], 0)
		if p.Work != c.want {
			t.Errorf("%s, asked for %q: %q, want %q", c.impl.Info().Name, c.asked, p.Work, c.want)
		}
		if long, _ := worker.LongWork(p); long > 0 && p.Duration < workloads.LongAtLeast(long) {
			t.Errorf("%s, asked for %q: the run lasts %v, and long work %v", c.impl.Info().Name, c.asked, p.Duration, long)
		}
	}
}

// TestRequire: what declares nothing is held to what is required; beside a program of the user's the
// others are yardsticks, and what a lock declares itself counts more.
func TestRequire(t *testing.T) {
	m := run.Matrix{Catalog: things(), Workload: workloads.Counter{}, Base: history.Plan{Lab: "local", Workload: "counter", Require: lb.Check}}
	f, err := m.Catalog.Fault("pause@after-setpx/3s") // of which no lock says anything
	if err != nil {
		t.Fatal(err)
	}
	declared, err := m.Catalog.Fault("pause-holder")
	if err != nil {
		t.Fatal(err)
	}
	if e := m.For(redis.SetPXLua(), f, 0).Expect; e == nil || len(e.Outcomes) != 2 || e.Outcomes[1] != lb.Check {
		t.Errorf("of a lock that declares nothing is expected %+v", e)
	}
	if e := m.For(redis.SetPXLua(), declared, 0).Expect; e == nil || e.Reason != lb.Overstay {
		t.Errorf("its own declaration does not count: %+v", e)
	}
	m.Base.Exec = &history.Exec{Name: "mine"}
	if e := m.For(redis.SetPXLua(), f, 0).Expect; e != nil {
		t.Errorf("of a yardstick is expected %+v", e)
	}
}
