package impls_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
)

// TestInfos wants every algorithm to say what it is, where it comes from, and what
// is to be expected of it, in terms that exist.
func TestInfos(t *testing.T) {
	seen := map[string]bool{}
	for _, impl := range impls.All() {
		info := impl.Info()
		t.Run(info.Name, func(t *testing.T) {
			if info.Name == "" || info.Doc == "" || info.Source == "" {
				t.Errorf("name %q, doc %q, source %q: all must be said", info.Name, info.Doc, info.Source)
			}
			if seen[info.Name] {
				t.Error("the name is taken")
			}
			seen[info.Name] = true
			if err := info.Traits.Check(); err != nil {
				t.Error(err)
			}
			if len(info.Topologies) == 0 {
				t.Error("no topology")
			}
			for _, name := range info.Topologies {
				if _, ok := backends.Topology(name); !ok {
					t.Errorf("topology %q does not exist", name)
				}
			}
			if names := slices.Sorted(slices.Values(info.Requests)); len(slices.Compact(names)) != len(info.Requests) {
				t.Errorf("requests %v: each name once", info.Requests)
			}
			if info.Name != "none" && !slices.Contains(info.Requests, info.Takes) {
				t.Errorf("%q, which takes the lock, is none of its requests %v", info.Takes, info.Requests)
			}
			if len(info.Expect) == 0 {
				t.Error("it expects nothing under any fault")
			}
			for _, e := range info.Expect {
				if len(e.Outcomes) == 0 || e.Why == "" || e.Source == "" {
					t.Errorf("%s: outcomes %v, why %q, source %q: all must be said", e.Fault, e.Outcomes, e.Why, e.Source)
				}
				if e.Reason != "" && !slices.Contains(lb.Mechanisms(), e.Reason) {
					t.Errorf("%s: %q is no mechanism", e.Fault, e.Reason)
				}
				if !known(e.Fault, info) {
					t.Errorf("it expects something of %q, which is no fault of its own", e.Fault)
				}
			}
		})
	}
}

// known reports whether a name or a glob of names means a fault that can strike this
// algorithm's clients: at a step that they pass, if it asks for one.
func known(glob string, info lb.Info) bool {
	all := append(faults.All(), faults.More()...)
	glob = strings.TrimSuffix(glob, "@*") // at any of its steps
	if f, err := faults.Find(all, glob); err == nil {
		return !strings.Contains(f.Name, "@") || f.At == "before-write" || slices.Contains(info.Steps(), f.At)
	}
	return slices.ContainsFunc(all, func(f faults.Fault) bool {
		ok, _ := path.Match(glob, f.Name)
		return ok
	})
}

// TestPromises: a lock that tells servers what its client's wall clock shows is broken by one that is set.
func TestPromises(t *testing.T) {
	for name, want := range map[string]lb.Outcome{"redis-setnx-getset": lb.Broken, "peer-rueidislock": lb.Broken, "redis-setpx-lua": lb.Safe} {
		i := slices.IndexFunc(impls.All(), func(l lb.Impl) bool { return l.Info().Name == name })
		if e := impls.All()[i].Info().Expected("client-clock:back"); e.Outcomes[0] != want {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
