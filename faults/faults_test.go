package faults_test

import (
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
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
		"slow-reply":                {"slow-reply", faults.AtTakes, 1400 * time.Millisecond},
		"slow-reply/0.5ttl":         {"slow-reply/0.5ttl", faults.AtTakes, time.Second},
	} {
		f, err := faults.Find(everything(), text)
		if err != nil || f.Name != want.name || f.At != want.at || f.Lasts.Of(ttl) != want.lasts {
			t.Errorf("Find(%q): %q at %q for %v, %v; want %+v", text, f.Name, f.At, f.Lasts.Of(ttl), err, want)
		}
	}
	for text, want := range map[string]string{
		"":                   `unknown fault ""`,
		"pause-at:work":      `unknown fault "pause-at:work"`,
		"pause@":             "name a step behind the @",
		"kill-leader@work":   "strikes at no step: leave out @work",
		"lose-reply@work":    "strikes at the request that takes the lock: leave out @work",
		"pause/":             `length "" is neither leases`,
		"pause/0ttl":         "is neither leases",
		"pause/-3s":          "is neither leases",
		"pause/NaNttl":       "is neither leases",
		"pause@work/1e9ttl":  "is neither leases",
		"pause@work/3":       "is neither leases, such as 0.7ttl, nor a time, such as 3s",
		"pause@work/3s/3s":   "is neither leases",
		"pause-holder@a@b/x": "is neither leases",
	} {
		if f, err := faults.Find(everything(), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%q) = %q, %v; want the error %q", text, f.Name, err, want)
		}
	}
}

// TestAvailable: where a fault can't strike it says so, in words.
func TestAvailable(t *testing.T) {
	bare := lab.Driver{Name: "bare", Lacks: map[lab.Ability]string{lab.Packets: "no network", lab.MoveAddress: "no network",
		lab.ServerClocks: "no clocks", lab.ClientClocks: "no clocks"}}
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
