package run_test

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/etcd"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/impls/zk"
	"github.com/lockbench/lockbench/internal/run"
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
		"pause-holder": false, "pause-holder/1ms": true, "pause-holder/0.7ttl": false, "pause@before-write/0.05ttl": true, "client-clock/1ms": true,
		"cut-rejoin/10ms": true, "slow-work/99ms": true, "slow-work/101ms": false, "kill-holder/1ms": false, "kill-leader/1ms": false, "none": false,
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
