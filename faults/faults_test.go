package faults

import (
	"testing"

	lb "github.com/lockbench/lockbench"
)

func TestFind(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range append(All(), Random{}) {
		if f.Doc() == "" || seen[f.Name()] {
			t.Errorf("%s: doc %q; the name must be its own", f.Name(), f.Doc())
		}
		seen[f.Name()] = true
		got, ok := Find(f.Name())
		if !ok || got.Name() != f.Name() {
			t.Errorf("Find(%q) = %v, %v", f.Name(), got, ok)
		}
	}
	for _, name := range []string{"", "crash-at:", "pause-at:", "pause"} {
		if f, ok := Find(name); ok {
			t.Errorf("Find(%q) = %s", name, f.Name())
		}
	}
}

// TestAvailable: where a fault can't strike it says so, in words.
func TestAvailable(t *testing.T) {
	nowhere := lb.Setting{Lab: "docker", Algorithm: lb.Info{Name: "bare"}, Workload: lb.WorkloadInfo{Name: "idle"}}
	for _, f := range append(All(), Random{}) {
		err := f.Available(nowhere)
		if _, none := f.(None); none != (err == nil) {
			t.Errorf("%s in a setting without steps, servers or network: %v", f.Name(), err)
		}
	}
}
