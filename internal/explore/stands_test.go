package explore

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

// described is a lock of which only its description is asked.
type described struct {
	lb.Impl
	traits lb.Traits
}

func (l described) Info() lb.Info { return lb.Info{Name: "described", Traits: l.traits} }

// TestStands: where servers end leases by a clock that can't be made to leap, nobody says that one has ended,
// and nobody dies whose lease then could not.
func TestStands(t *testing.T) {
	any := Bounds{Clients: 2, Acquisitions: 1, Expiries: 1, Crashes: 1, Lost: 1, Faults: 1}
	lost := any
	lost.Expiries, lost.Crashes = 0, 0
	for _, c := range []struct {
		topology string
		traits   lb.Traits
		bounds   Bounds
		dies     bool
		timeless bool
	}{
		{"etcd", lb.Traits{Leased: true}, any, false, true},
		{"etcd", lb.Traits{Leased: true}, lost, false, false},
		{"etcd", lb.Traits{Leased: true, Session: true}, any, true, false},
		{"redis", lb.Traits{Leased: true}, any, true, false},
	} {
		topology, ok := backends.Topology(c.topology)
		if !ok {
			t.Fatal(c.topology)
		}
		e, err := newEngine(t.Context(), described{traits: c.traits}, workloads.Counter{}, c.bounds, topology, &lab.Service{})
		if err != nil {
			t.Fatal(err)
		}
		e.allowed = 1
		o := &order{e: e}
		if dies := o.allows(Move{Client: "c1", Do: Dies}); dies != c.dies || (e.timeless != "") != c.timeless {
			t.Errorf("%s, %+v, %+v: dies %t, timeless %q", c.topology, c.traits, c.bounds, dies, e.timeless)
		}
	}
}
