package cli

import (
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/run"
)

// TestWhose: what is said of two outcomes is where to look, of how many runs, and not whose mistake it was.
func TestWhose(t *testing.T) {
	var cells []checker.Cell
	for fault, c := range map[string][2]checker.Cell{
		"none":     {{Outcome: lb.Safe}, {Outcome: lb.Safe}},
		"pause":    {{Outcome: lb.Broken, Mechanism: lb.DoubleGrant}, {Outcome: lb.Check, Mechanism: lb.Overstay}},
		"kill":     {{Outcome: lb.Stuck, Mechanism: lb.Ghost}, {Outcome: lb.Safe}},
		"failover": {{Outcome: lb.Broken, Mechanism: lb.DoubleGrant}, {Outcome: lb.Broken, Mechanism: lb.DoubleGrant}},
		"write":    {{Outcome: lb.Broken, Mechanism: lb.DoubleGrant}, {Outcome: lb.Broken, Mechanism: lb.Overstay}},
		"milder":   {{Outcome: lb.Check, Mechanism: lb.Overstay}, {Outcome: lb.Broken, Mechanism: lb.Overstay}},
		"open":     {{Outcome: lb.Broken}, {Outcome: lb.Inconclusive}},
		"absent":   {{Outcome: lb.Inconclusive}, {Outcome: lb.Safe}},
	} {
		c[0].Runs, c[1].Runs = 1, 2
		c[0].Algorithm, c[1].Algorithm, c[0].Fault, c[1].Fault = "mine", "good", fault, fault
		cells = append(cells, c[:]...)
	}
	var b strings.Builder
	tellWhose(&b, "mine", "good", cells)
	const beside = "; good, a correct lock on such servers, was "
	for _, want := range []string{
		"mine × pause: BROKEN (double grant) in 1 run" + beside + "CHECK (overstay) at worst in 2 runs there: look first at what yours does worse",
		"mine × kill: STUCK (ghost) in 1 run" + beside + "SAFE at worst in 2 runs there: look at yours first",
		"mine × failover: BROKEN (double grant) in 1 run" + beside + "BROKEN (double grant) at worst in 2 runs there: both were hurt the same way, so look whether for the same reason",
		"mine × write: BROKEN (double grant) in 1 run" + beside + "BROKEN (overstay) at worst in 2 runs there: look first at what yours does otherwise",
		"mine × milder: CHECK (overstay) in 1 run" + beside + "BROKEN (overstay) at worst in 2 runs there: yours was no worse",
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("lacks %q", want)
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 5 {
		t.Errorf("%d lines:\n%s", n, &b)
	}
}

// own is a lock of the user's, of which only the description is asked.
type own struct {
	lb.Impl
	info lb.Info
}

func (o own) Info() lb.Info { return o.info }

// TestBeside: the lock by the book is on the same servers, and outlasts its lease if the user's does.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		on, topology string
		traits       lb.Traits
		want         string
	}{
		{"redis", "", lb.Traits{Leased: true}, "redis-setpx-lua"},
		{"redis", "", lb.Traits{Leased: true, Renewing: true}, "redis-watchdog"},
		{"redis-5", "", lb.Traits{Leased: true}, "redlock"},
		{"redis-5", "", lb.Traits{Renewing: true}, "redlock-watchdog"},
		{"zookeeper", "", lb.Traits{}, "zk-sequential"},
		{"etcd", "etcd-3", lb.Traits{Leased: true}, "etcd-lease"},
		{"mariadb", "", lb.Traits{}, "mysql-insert-ttl"},
		{"mariadb", "", lb.Traits{Session: true}, "mysql-forupdate"},
		{"redis", "etcd", lb.Traits{}, ""},
		{"none", "", lb.Traits{}, ""},
	} {
		p := program{Catalog: things()}
		p.Locks = append(p.Locks, own{info: lb.Info{Name: "mine", Topologies: []string{c.on}, Traits: c.traits}})
		if got := p.beside(&history.Exec{Name: "mine"}, c.topology); got != c.want {
			t.Errorf("%s, %q, %+v: %s stands beside, want %s", c.on, c.topology, c.traits, got, c.want)
		}
	}
}

// TestInstead: what is said to do next is what lockbench takes: the other lock is of the servers of the run, and has the
// fault's step, the workload and the long work. Work that nobody asked for is that of its own.
func TestInstead(t *testing.T) {
	for _, c := range []struct {
		fault, on, work string
		traits          lb.Traits
		want, does      string
	}{
		{fault: "pause-holder", traits: lb.Traits{Leased: true}, want: "redis-setpx-lua"},
		{fault: "pause-holder", traits: lb.Traits{Renewing: true}, want: "redis-watchdog", does: "2.5ttl"},
		{fault: "pause-holder", traits: lb.Traits{Renewing: true}, work: "3s", want: "redis-watchdog", does: "3s"},
		{fault: "pause-holder", on: "etcd", traits: lb.Traits{Leased: true}, want: "etcd-lease", does: "2.5ttl"},
		{fault: "pause@after-mine", traits: lb.Traits{Leased: true}},
		{fault: "pause-holder", traits: lb.Traits{Permits: 2}},
		{fault: "pause-holder", on: "memcached", traits: lb.Traits{Renewing: true}, want: "memcached-add-cas"},
		{fault: "pause-holder", on: "memcached", traits: lb.Traits{Renewing: true}, work: "3s"},
	} {
		p := program{Catalog: things()}
		mine := own{info: lb.Info{Name: "mine", Topologies: []string{"redis", "etcd", "memcached"}, Requests: []string{"mine"}, Traits: c.traits}}
		p.Locks = append(p.Locks, mine)
		m := run.Matrix{Catalog: p.Catalog, Workload: p.Workloads[0], Base: history.Plan{Lab: "local", Topology: c.on, Work: c.work, Require: lb.Check,
			Clients: 6, Processes: 3, Duration: time.Second, Exec: &history.Exec{Name: "mine"}}}
		fault, err := p.Fault(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		plan := m.For(mine, fault, 0)
		same, ok := p.instead(m, plan, fault)
		if !ok {
			same.Algorithm, same.Work = "", ""
		}
		if same.Algorithm != c.want || same.Work != c.does {
			t.Errorf("%+v: %s with work %q, want %s", c, same.Algorithm, same.Work, c.want)
		}
		if ok && (same.Exec != nil || same.Require != "" || same.Topology != plan.Topology || same.TTL != plan.TTL || same.Workload != plan.Workload) {
			t.Errorf("%+v: in place of %+v it is %+v", c, plan, same)
		}
	}
}
