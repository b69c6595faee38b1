package explore

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit"
)

// forgetful is a toy whose orders come to the same moment by many ways.
func forgetful(seed uint64) *toy {
	m := randomToy(rand.New(rand.NewPCG(seed, 11)))
	m.forgets, m.counts = true, seed%2 == 0 && !m.push
	return m
}

// outcomesOf are what the orders leave behind that a walk tells of.
func outcomesOf(t *testing.T, w *walk) (all map[string]bool, orders int) {
	t.Helper()
	all = map[string]bool{}
	w.told = func(o Order, _ []Move) error {
		orders++
		all[o.(*toyOrder).outcome()] = true
		return nil
	}
	if err := w.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	return all, orders
}

// TestKept: where a moment that comes again is not walked on from again, every outcome of all interleavings is
// one of an order that the walk tells of.
func TestKept(t *testing.T) {
	seeds := 20
	if testkit.All() {
		seeds = 60
	}
	tried, fewer, again := 0, 0, 0
	for seed := range uint64(seeds) {
		m := forgetful(seed)
		for faults := 0; faults <= m.bounds.levels(); faults++ {
			m.allowed = faults
			all, ok := m.outcomes(faults)
			if !ok {
				break
			}
			w := &walk{rules: m.rules, subject: m, faults: faults, kept: kept{}}
			got, orders := outcomesOf(t, w)
			if !maps.Equal(all, got) {
				t.Fatalf("seed %d with %d faults: %d outcomes of all interleavings, %d of %d orders: %+v", seed, faults, len(all), len(got), orders, *m)
			}
			_, more := outcomesOf(t, &walk{rules: m.rules, subject: m, faults: faults})
			tried++
			if orders < more {
				fewer++
			}
			again += w.met
		}
	}
	t.Logf("%d walks, %d of them shorter; %d orders met what was walked on from", tried, fewer, again)
	if tried < seeds || fewer < tried/5 || again < seeds {
		t.Errorf("%d walks, of which %d are shorter, and %d orders that met say little", tried, fewer, again)
	}
}

// TestKeptAstray: nothing is taken for walked below which an order went astray: whatever a walk comes to that
// walks on from each moment, one that does not comes to as well.
func TestKeptAstray(t *testing.T) {
	tried, astray := 0, 0
	for seed := range uint64(20) {
		m := forgetful(seed)
		m.allowed = min(1, m.bounds.levels())
		if _, ok := m.outcomes(m.allowed); !ok {
			continue
		}
		orders, _ := walked(t, m.rules, m, m.allowed)
		if len(orders) == 0 {
			continue
		}
		for i := range 4 {
			bad := orders[i*len(orders)/4]
			outcomes := func(k kept) (all map[string]bool, strayed int) {
				all = map[string]bool{}
				s := &erring{Subject: m, errs: func(moves []Move) bool { return slices.Equal(moves, bad) }}
				w := &walk{rules: m.rules, subject: s, faults: m.allowed, kept: k, told: func(o Order, _ []Move) error {
					all[o.(*erringOrder).Order.(*toyOrder).outcome()] = true
					return nil
				}}
				if err := w.all(t.Context()); err != nil {
					t.Fatal(err)
				}
				return all, w.astray
			}
			want, _ := outcomes(nil)
			got, strayed := outcomes(kept{})
			for o := range want {
				if !got[o] {
					t.Fatalf("seed %d, %d astray: %s is missing", seed, strayed, o)
				}
			}
			tried, astray = tried+1, astray+strayed
		}
	}
	t.Logf("%d walks, %d orders astray", tried, astray)
	if tried < 30 || astray < 20 {
		t.Errorf("%d walks with %d orders astray say little", tried, astray)
	}
}

// TestKeptNow: what goes astray for once, and is tried again, is not met at the moments that it came to itself.
func TestKeptNow(t *testing.T) {
	m := contended()
	m.forgets = true
	want, _ := outcomesOf(t, &walk{rules: m.rules, subject: m, faults: 1})
	s := &erring{Subject: m}
	n := 0
	s.errs = func(moves []Move) bool {
		n++
		return n%40 == 0 && len(moves) > 3
	}
	got := map[string]bool{}
	w := &walk{rules: m.rules, subject: s, faults: 1, kept: kept{}, told: func(o Order, _ []Move) error {
		got[o.(*erringOrder).Order.(*toyOrder).outcome()] = true
		return nil
	}}
	if err := w.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.astray > 0 || !maps.Equal(want, got) {
		t.Errorf("%d outcomes, of %d; %d astray", len(got), len(want), w.astray)
	}
}
