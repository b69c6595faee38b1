package impls_test

import (
	"path"
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/lab"
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
			if len(info.Topologies) == 0 {
				t.Error("no topology")
			}
			for _, name := range info.Topologies {
				if _, ok := lab.FindTopology(name); !ok {
					t.Errorf("topology %q does not exist", name)
				}
			}
			if steps := slices.Sorted(slices.Values(info.Steps)); len(slices.Compact(steps)) != len(info.Steps) {
				t.Errorf("steps %v: each name once", info.Steps)
			}
			if len(info.Expect) == 0 {
				t.Error("it expects nothing under any fault")
			}
			for _, e := range info.Expect {
				if len(e.Outcomes) == 0 || e.Why == "" || e.Source == "" {
					t.Errorf("%s: outcomes %v, why %q, source %q: all must be said", e.Fault, e.Outcomes, e.Why, e.Source)
				}
				if !known(e.Fault) {
					t.Errorf("it expects something of %q, which is no fault", e.Fault)
				}
			}
		})
	}
}

// known reports whether a name or a glob of names means a fault.
func known(glob string) bool {
	if _, ok := faults.Find(glob); ok {
		return true
	}
	return slices.ContainsFunc(faults.All(), func(f lb.Fault) bool {
		ok, _ := path.Match(glob, f.Name())
		return ok
	})
}
