package stock_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cli/stock"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

// TestEnsembles: the lock that tries ensembles is one for servers of their kind.
func TestEnsembles(t *testing.T) {
	c := stock.Catalog()
	for _, top := range c.Topologies {
		if top.Ensembles == nil {
			continue
		}
		lock, err := c.Lock(top.Ensembles.Algorithm)
		if err != nil {
			t.Fatalf("%s: %v", top.Name, err)
		}
		if on, err := c.Topology(lock.Info().Topologies[0]); err != nil || on.Kind.Name != top.Kind.Name {
			t.Errorf("%s is tried by %s, which runs on %s; %v", top.Name, top.Ensembles.Algorithm, on.Name, err)
		}
	}
}

// TestEveryCell: each lock of the list says what is to be expected of it under each fault of the matrix.
func TestEveryCell(t *testing.T) {
	c := stock.Catalog().Elsewhere() // whatever this machine lacks
	m := run.Matrix{Catalog: c, Workload: workloads.Counter{}, Base: history.Plan{Lab: "local", Clients: 6, Processes: 3}}
	cells := 0
	for _, lock := range c.Locks {
		for _, fault := range c.Faults {
			plan := m.For(lock, fault, 0)
			if m.Available(plan, fault) != nil {
				continue
			}
			if cells++; plan.Expect == nil {
				t.Errorf("%s × %s: nothing is declared; run it five times, and let theory and runs agree", lock.Info().Name, fault.Name)
			}
		}
	}
	if cells < 1000 {
		t.Errorf("%d cells", cells)
	}
}

// TestAbilities: a lab can do what it claims and nothing else, and says in words why it can't do what
// another can.
func TestAbilities(t *testing.T) {
	const unclaimed lab.Ability = "put out a fire"
	labs := stock.Catalog().Labs
	for _, one := range labs {
		if err := one.Can(unclaimed); err == nil || err.Error() != "the "+one.Name+" lab can't put out a fire: it was not made for that" {
			t.Errorf("the %s lab, of what no lab claims: %v", one.Name, err)
		}
		for _, other := range labs {
			for _, a := range other.Claims {
				claims, why := slices.Contains(one.Claims, a), one.Lacks[a]
				if claims == (why != "") {
					t.Errorf("the %s lab claims to %s: %v; why it can't: %q", one.Name, a, claims, why)
				}
				if err := one.Can(a); !claims && (err == nil || !strings.Contains(err.Error(), why)) {
					t.Errorf("the %s lab does not claim to %s: %v, want %q", one.Name, a, err, why)
				}
			}
		}
	}
}
