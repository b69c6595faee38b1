package bench

import (
	"slices"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/cost"
)

// called is a lock of which only the name is asked.
type called struct {
	lb.Impl
	name string
}

func (c called) Info() lb.Info { return lb.Info{Name: c.name} }

// TestNext: planned rounds are of all rows and share the time; what is left is for those that are not sure,
// beside the baseline, and nobody's where all are.
func TestNext(t *testing.T) {
	lock := func(name string) row {
		return row{called{name: name}, &service{servers: cost.Memory}}
	}
	m := &measurement{plan: cost.Plan{Rounds: 8, Precision: .05, Baseline: "base"}, rows: []row{lock("base"), lock("steady"), lock("erratic")}}
	m.out = &cost.Bench{Plan: m.plan}
	m.cells()
	names := func(round int, left time.Duration) (list []string, budget time.Duration) {
		rows, budget := m.next(round, left)
		for _, r := range rows {
			list = append(list, r.name())
		}
		return list, budget
	}
	if all, budget := names(6, 10*time.Second); len(all) != 3 || budget != 10*time.Second/(2+further) {
		t.Errorf("planned: %q for %v", all, budget)
	}
	for round := range 8 {
		for _, r := range m.rows {
			v := 1000 + float64(round)
			if r.name() == "erratic" {
				v *= float64(1 + round)
			}
			c := m.out.Find(cost.Uncontended(r.name(), cost.Memory))
			c.Add(round, cost.Cycle, v)
			c.Add(round, cost.Writes, 500)
		}
	}
	if some, budget := names(8, 10*time.Second); !slices.Equal(some, []string{"base", "erratic"}) || budget != 10*time.Second/further {
		t.Errorf("of what is left: %q for %v", some, budget)
	}
	for _, c := range []struct {
		round int
		left  time.Duration
	}{{8, leastTurn - 1}, {8 * mostTurns, time.Minute}, {9, leastTurn - 1}} {
		if some, _ := names(c.round, c.left); len(some) > 0 {
			t.Errorf("round %d with %v left: %q", c.round, c.left, some)
		}
	}
	m.plan.Precision, m.out.Plan.Precision = 20, 20
	if some, _ := names(8, time.Minute); len(some) > 0 {
		t.Errorf("all are sure: %q", some)
	}
}

// TestTooFew: a rate is none where most turns have seen too few grants, and it is said; one bad turn of many
// counts as the rate that it is.
func TestTooFew(t *testing.T) {
	for few, kept := range map[int]bool{1: true, 4: true, 5: false} {
		m := &measurement{out: &cost.Bench{}}
		c := m.out.Cell(cost.Contended("lock", cost.Memory), "one")
		for round := range 8 {
			c.Add(round, cost.Grants, 1)
			c.Add(round, cost.HandOffs, 1)
			c.Add(round, cost.Longest, 1e9)
		}
		c.Few = few
		m.tooFew()
		if got := c.Figures[cost.HandOffs] != nil; got != kept || (c.Failed == "") != kept || c.Figures[cost.Longest] == nil {
			t.Errorf("%d of 8: kept %t, %q", few, got, c.Failed)
		}
	}
}
