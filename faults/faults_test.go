package faults_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

func everything() []faults.Fault { return append(faults.All(), faults.More()...) }

// TestList: whatever is listed can be found by its name, says what it does, and does it.
func TestList(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range everything() {
		if f.Name == "" || f.Doc == "" || f.Family == "" || seen[f.Name] {
			t.Errorf("%q, doc %q, family %q: each fault has all three, and the name is its own", f.Name, f.Doc, f.Family)
		}
		seen[f.Name] = true
		if (f.Inject == nil) != (f.Mix != nil) {
			t.Errorf("%s: a fault injects something, or is a mix of others", f.Name)
		}
		if got, err := faults.Find(everything(), f.Name); err != nil || got.Name != f.Name {
			t.Errorf("Find(%q) = %q, %v", f.Name, got.Name, err)
		}
	}
}

// TestFind: any fault at any step, for as long as is told.
func TestFind(t *testing.T) {
	const ttl = 2 * time.Second
	for text, want := range map[string]struct {
		name, at string
		lasts    time.Duration
	}{
		"pause-holder":              {"pause-holder", workloads.StepWork, 5 * time.Second},
		"pause@before-write":        {"pause@before-write", "before-write", 5 * time.Second},
		"pause@after-create":        {"pause@after-create", "after-create", 5 * time.Second},
		"cut@after-create/0.7ttl":   {"cut@after-create/0.7ttl", "after-create", 1400 * time.Millisecond},
		"kill-leader/3s":            {"kill-leader/3s", "", 3 * time.Second},
		"pause@before-write/1500ms": {"pause@before-write/1500ms", "before-write", 1500 * time.Millisecond},
		"late-grant":                {"late-grant", faults.AtTakes, 2200 * time.Millisecond},
		"late-grant/0.5ttl":         {"late-grant/0.5ttl", faults.AtTakes, time.Second},
		"slow-reply@renew":          {"slow-reply@renew", "renew", 1400 * time.Millisecond},
		"pause@renew/3s, kill-leader,cut-two+restart-empty": {"pause@renew/3s,kill-leader,cut-two+restart-empty", "", 5 * time.Second},
	} {
		f, err := faults.Find(everything(), text)
		if err != nil || f.Name != want.name || f.At != want.at || f.Lasts.Of(ttl) != want.lasts {
			t.Errorf("Find(%q): %q at %q for %v, %v; want %+v", text, f.Name, f.At, f.Lasts.Of(ttl), err, want)
		}
	}
	for text, want := range map[string]string{
		"":                                    `unknown fault ""`,
		"pause,":                              `unknown fault ""`,
		"pause,random":                        "random strikes until the end of the run: it can't stand in a list",
		"client-clock:ahead-from-start,pause": "is there before the clients are: it can't stand in a list",
		"shared-session,kill-holder":          "is there before the clients are: it can't stand in a list",
		"pause-at:work":                       `unknown fault "pause-at:work"`,
		"pause@":                              "name a step behind the @",
		"kill-leader@work":                    "strikes at no step: leave out @work",
		"lost-grant@work":                     "strikes at the request that takes the lock: leave out @work",
		"pause/":                              `length "" is neither leases`,
		"pause/0ttl":                          "is neither leases",
		"pause/-3s":                           "is neither leases",
		"pause/NaNttl":                        "is neither leases",
		"pause@work/1e9ttl":                   "is neither leases",
		"pause@work/3":                        "is neither leases, such as 0.7ttl, nor a time, such as 3s",
		"pause@work/3s/3s":                    "is neither leases",
		"pause-holder@a@b/x":                  "is neither leases",
	} {
		if f, err := faults.Find(everything(), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%q) = %q, %v; want the error %q", text, f.Name, err, want)
		}
	}
}

// TestAvailable: where a fault can't strike it says so, in words.
func TestAvailable(t *testing.T) {
	bare := lab.Driver{Name: "bare", Claims: []lab.Ability{lab.Strike, lab.StallDisk, lab.FullDisk}}
	nowhere := faults.Setting{Lab: bare, Algorithm: lb.Info{Name: "A"}, Workload: workloads.Info{Name: "idle"}}
	for _, f := range everything() {
		if err := f.Available(nowhere); (f.Name == "none") != (err == nil) {
			t.Errorf("%s in a setting without steps, servers or network: %v", f.Name, err)
		}
	}
}

// TestStep: what depends on the algorithm is found in what it says of itself.
func TestStep(t *testing.T) {
	s := faults.Setting{Lab: lab.Local(), Workload: workloads.Counter{}.Info(),
		Algorithm: lb.Info{Name: "A", Requests: []string{"enqueue", "look", "give"}, Takes: "look"}}
	for at, want := range map[string]string{
		faults.AtFirst:      "before-enqueue",
		faults.AtTakes:      "before-look",
		"give":              "before-give",
		"after-give":        "after-give",
		workloads.StepWork:  workloads.StepWork,
		"":                  "",
		"no-step-of-anyone": "no-step-of-anyone",
	} {
		f := faults.Fault{Name: "f", At: at}
		if got := f.Step(s); got != want {
			t.Errorf("at %q: %q, want %q", at, got, want)
		}
		if err := f.Available(s); (at == "no-step-of-anyone") != (err != nil) {
			t.Errorf("at %q: %v", at, err)
		} else if err != nil && !strings.Contains(err.Error(), "after-enqueue") {
			t.Errorf("the error does not say which steps there are: %v", err)
		}
	}
}

// TestWhyNot: the reasons of an n/a are true of the servers that they speak of.
func TestWhyNot(t *testing.T) {
	for _, c := range []struct {
		fault, topology string
		info            lb.Info
		why             string // "" where it can strike
	}{
		{"flushall", "redis", lb.Info{}, ""},
		{"flushall", "etcd", lb.Info{}, "know no FLUSHALL"},
		{"flushall", "none", lb.Info{}, "has no lock service"},
		{"script-flush", "redis", lb.Info{Scripts: true}, ""},
		{"script-flush", "redis", lb.Info{}, "runs no scripts on the server"},
		{"idle-holder", "mariadb", lb.Info{}, ""},
		{"idle-holder", "zookeeper-3", lb.Info{}, "know no close idle connections"},
		{"snapshot", "etcd", lb.Info{}, ""},
		{"snapshot", "zookeeper", lb.Info{}, "know no snapshot"},
		{"slow-server", "redis", lb.Info{}, ""},
		{"slow-server", "etcd-3", lb.Info{}, ""},
		{"slow-server", "redis-sentinel", lb.Info{}, "do not grant by majority"},
		{"deaf-leader", "redis-sentinel", lb.Info{}, ""},
		{"deaf-leader", "mariadb-replica", lb.Info{}, "elect no leader by themselves"},
		{"schema-change", "mariadb", lb.Info{Tables: true}, ""},
		{"disk-stall", "mariadb", lb.Info{}, ""},
		{"disk-stall", "mariadb", lb.Info{InMemory: true}, "writes nothing to a disk"},
		{"schema-change", "mariadb", lb.Info{}, "keeps nothing in a table"},
		{"sentinel-reset", "redis-sentinel", lb.Info{}, ""},
		{"sentinel-reset", "redis", lb.Info{}, "know no SENTINEL RESET"},
		{"failover-by-command", "redis-sentinel", lb.Info{}, ""},
		{"failover-by-command", "etcd-3", lb.Info{}, ""},
		{"failover-by-command", "mariadb-replica", lb.Info{}, ""},
		{"failover-by-command", "zookeeper-3", lb.Info{}, "have no command that makes another lead"},
		{"failover-by-command", "redis-cluster", lb.Info{}, ""},
		{"failover-by-command", "redis-5", lb.Info{}, "none leads the others"},
		{"failover-silent", "etcd-3", lb.Info{}, ""},
		{"failover-silent", "mariadb-replica", lb.Info{}, ""},
		{"failover-silent", "redis", lb.Info{}, "runs on 1 server of which none leads"},
		{"rolling-restart", "zookeeper-3", lb.Info{}, ""},
		{"rolling-restart", "redis", lb.Info{}, "runs on one server"},
		{"compact", "etcd", lb.Info{Requests: []string{"watch"}}, ""},
		{"compact", "etcd", lb.Info{}, "has no step watch"},
		{"compact", "zookeeper", lb.Info{Requests: []string{"watch"}}, "know no compact"},
		{"replace-member", "etcd-3", lb.Info{}, ""},
		{"replace-member", "etcd", lb.Info{}, "runs on one server"},
		{"replace-member", "zookeeper-3", lb.Info{}, "stands in their configuration"},
		{"replace-member", "redis-cluster", lb.Info{}, ""},
		{"kill-two", "redis-cluster", lb.Info{}, "does not run on five servers"},
		{"slow-server", "redis-cluster", lb.Info{}, "do not grant by majority"},
		{"restart-empty", "redis-cluster", lb.Info{}, "breaks the cluster's own rules"},
		{"replace-member", "redis-5", lb.Info{}, "stands in their configuration"},
		{"disk-full", "etcd", lb.Info{}, ""},
		{"disk-full", "mariadb-replica", lb.Info{}, ""},
		{"disk-full", "mariadb", lb.Info{}, "go on for longer than a fault lasts without more room"},
		{"disk-full", "redis-aof", lb.Info{}, ""},
		{"disk-full", "redis", lb.Info{}, "go on for longer than a fault lasts without more room"},
	} {
		f, err := faults.Find(everything(), c.fault)
		if err != nil {
			t.Fatal(err)
		}
		c.info.Name = "A"
		if c.info.Requests == nil {
			c.info.Requests = []string{"ask"}
		}
		topology, _ := backends.Topology(c.topology)
		err = f.Available(faults.Setting{Lab: lab.Local(), Topology: topology, Algorithm: c.info, Workload: workloads.Counter{}.Info()})
		switch {
		case c.why == "" && err != nil:
			t.Errorf("%s on %s: %v", c.fault, c.topology, err)
		case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%s on %s: %v, want %q", c.fault, c.topology, err, c.why)
		}
	}
}

// TestLists: a list is as long in its leases, and as particular about where, as its faults are.
func TestLists(t *testing.T) {
	f, err := faults.Find(everything(), "pause-holder,failover,expire-waiter")
	if err != nil || f.MinTTL != 4*time.Second || f.Repeats || len(f.Mix) != 3 || f.Mix[1].Name != "failover" || f.Prefers == nil {
		t.Errorf("%+v, %v", f, err)
	}
	topology, _ := backends.Topology("redis")
	s := faults.Setting{Lab: lab.Local(), Topology: topology, Workload: workloads.Counter{}.Info(), Algorithm: lb.Info{Name: "A", Requests: []string{"ask"}}}
	if err := f.Available(s); err == nil || !strings.HasPrefix(err.Error(), "failover: ") {
		t.Errorf("one of the list can't strike: %v", err)
	}
}

// TestClashes: what needs the same clients, servers, network or clocks is kept apart.
func TestClashes(t *testing.T) {
	find := func(name string) faults.Fault {
		f, err := faults.Find(everything(), name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for pair, want := range map[[2]string]bool{
		{"pause-holder", "kill-leader"}:       false,
		{"lose-reply", "kill-leader"}:         true,
		{"pause-holder", "client-clock"}:      true, // a frozen process moves no clock
		{"cut-halves", "pause-holder"}:        false,
		{"client-clock", "kill-leader"}:       false,
		{"pause-holder", "cut-holder"}:        true, // both stop a client
		{"pause-holder", "restart-server"}:    true,
		{"kill-leader", "pause-leader"}:       true,
		{"cut-halves", "kill-leader"}:         true, // a majority may be away
		{"cut-halves", "cut-holder"}:          true,
		{"server-clock", "kill-leader"}:       true, // its clock is asked for
		{"client-clock", "client-clock:fast"}: true,
		{"client-clock", "kill-holder"}:       true,
		{"none", "pause-holder"}:              false,
	} {
		a, b := find(pair[0]), find(pair[1])
		if a.Clashes(b) != want || b.Clashes(a) != want {
			t.Errorf("%v: apart %v, want %v", pair, !want, want)
		}
	}
	for _, f := range find("random").Mix {
		if !f.Clashes(f) || f.MinTTL > find("random").MinTTL {
			t.Errorf("%s in random: it must not meet itself, and needs leases of %v", f.Name, f.MinTTL)
		}
	}
}

// TestTroubles: a list makes the troubles of its parts, and of a mix nobody knows which come.
func TestTroubles(t *testing.T) {
	for name, want := range map[string][]history.Trouble{
		"none": nil, "pause-holder": {history.Freeze}, "kill@after-setnx": {history.Death}, "restart-holder": {history.Death}, "twin-holder": nil,
		"pause-holder,failover": {history.Failover, history.Freeze}, "rolling-restart": {history.Failover}, "random": nil, "soak": nil, "slow-work": nil,
	} {
		f, err := faults.Find(everything(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Troubles(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestMakeBench: the quick bench makes each kind of trouble, so that its advice leaves out none.
func TestMakeBench(t *testing.T) {
	text, err := os.ReadFile("../docker/lockbench/bench.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "\nfaults=")
	list, _, _ = strings.Cut(list, "\n")
	if !ok {
		t.Fatal("bench.sh names no faults")
	}
	made := map[history.Trouble]bool{}
	for name := range strings.SplitSeq(list, ",") {
		f, err := faults.Find(everything(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, trouble := range f.Troubles() {
			made[trouble] = true
		}
	}
	for _, trouble := range history.Troubles() {
		if !made[trouble] {
			t.Errorf("no fault of %q is among %s", trouble, list)
		}
	}
}
