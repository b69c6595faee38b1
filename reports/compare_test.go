package reports

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
)

// compareBenches are two benchmarks on a quiet machine. In the second all is a third
// slower, because the machine is; redis-setpx-lua has become slower by itself, in memory,
// etcd-v3lock has no hand-offs, and redis-fenced quicker ones.
func compareBenches() (before, now *cost.Bench) {
	benches := make([]*cost.Bench, 2)
	for i := range benches {
		b := sampleBench()
		b.Noise, b.Rounds, b.Plan.Rounds = nil, 10, 10
		for _, c := range b.Cells {
			for m, f := range c.Figures {
				for round := len(f.Values); round < 10 && round > 1; round++ {
					c.Add(round, m, f.Values[round-6].V*1.01)
				}
			}
		}
		benches[i] = b
	}
	before, now = benches[0], benches[1]
	change := func(c *cost.Cell, m cost.Measure, by float64) {
		f := c.Figures[m]
		if f == nil {
			return
		}
		values := f.Values
		delete(c.Figures, m)
		for _, v := range values {
			c.Add(v.Round, m, v.V*by)
		}
	}
	for _, c := range now.Cells {
		for m, by := range map[cost.Measure]float64{cost.Cycle: 1.33, cost.Writes: 1.33, cost.Floor: 1.33, cost.P50: 1.33, cost.P99: 1.33, cost.Longest: 1.33,
			cost.Grants: 1 / 1.33, cost.HandOffs: 1 / 1.33, cost.ServerNS: 1.33} {
			change(c, m, by)
		}
		switch {
		case c.Key == cost.Uncontended("redis-setpx-lua", cost.Memory):
			change(c, cost.Cycle, 1.4)
		case c.Key == cost.Contended("redis-fenced", cost.Disk):
			change(c, cost.HandOffs, 2.5)
			change(c, cost.Barges, 3)
		case c.Algorithm == "etcd-v3lock" && c.Clients == cost.Contenders:
			delete(c.Figures, cost.HandOffs)
			c.Failed = "its clients do not come to an end"
		}
	}
	return before, now
}

// TestGoldenCompare: what the machine did to all is not told of any lock.
func TestGoldenCompare(t *testing.T) {
	before, now := compareBenches()
	now.Plan.Machine.Cores = 4
	c := Compare("base", "head", rundir.Saved{Bench: before}, rundir.Saved{Bench: now}, .1)
	for name, write := range map[string]func(io.Writer) error{
		"compare.txt": func(w io.Writer) error { return c.Terminal(w, false, 100) },
		"compare.md":  c.Markdown,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

// TestForest: all locks with servers that both have measured are drawn on one axis, what is more lies
// farther to the right, and what is beyond the axis at its end.
func TestForest(t *testing.T) {
	before, now := compareBenches()
	c := Compare("base", "head", rundir.Saved{Bench: before}, rundir.Saved{Bench: now}, .1)
	rows := map[string]int{}
	for _, f := range c.forests() {
		rows[f.Title[:4]] = len(f.Rows)
		for _, r := range f.Rows {
			if n := strings.Count(string(r.Drawn), `class="nowdot"`); n != 1 || !strings.Contains(string(r.Drawn), string("fr "+r.Trend)) {
				t.Errorf("%s: %s", r.Key, r.Drawn)
			}
		}
	}
	if rows["Acqu"] != 6 || rows["Hand"] != 4 || rows["99% "] != 6 {
		t.Errorf("rows: %v", rows)
	}
	s := forestScale{least: .1, most: math.Log(8)}
	if s.x(1) != 50 || s.x(8) != 100-axisInset || s.x(1./8) != axisInset || s.x(1e6) != s.x(8) || s.x(1e-6) != s.x(1./8) || s.x(2) <= s.x(1.9) {
		t.Errorf("1×, 8×, ⅛×, 2× at %v, %v, %v, %v percent", s.x(1), s.x(8), s.x(1./8), s.x(2))
	}
	for _, most := range []float64{1.5, 2, 3, 5, 9, 20, 100} {
		for _, r := range (forestScale{most: math.Log(most)}).ticks() {
			if most < 64 && (forestScale{most: math.Log(most)}).beyond(r) {
				t.Errorf("an axis to %v× has a mark at %v×", most, r)
			}
		}
	}
}

// TestCompareSummary says what was not measured.
func TestCompareSummary(t *testing.T) {
	before, now := compareBenches()
	cells := []checker.Cell{{Algorithm: "a", Fault: "none", Outcome: lb.Safe}}
	for want, c := range map[string]Compared{
		"What it costs was measured before, and is no more.":                    Compare("a", "b", rundir.Saved{Bench: before}, rundir.Saved{}, .1),
		"1 cell, and none has changed.":                                         Compare("a", "b", rundir.Saved{Cells: cells}, rundir.Saved{Cells: cells, Bench: now}, .1),
		"Nothing to compare: of no cell both have a run that proves something.": Compare("a", "b", rundir.Saved{}, rundir.Saved{}, .1),
	} {
		if got := c.Summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if len(c.forests()) > 0 || len(c.changedCosts()) > 0 || c.Performance.Compared() {
			t.Errorf("%s: costs are compared", want)
		}
	}
	if got := Compare("a", "b", rundir.Saved{Bench: before}, rundir.Saved{Bench: before}, .1); got.Performance.Trends(gate.Worse, true) != nil || !strings.Contains(got.Summary(), "same.") {
		t.Errorf("the same benchmark twice: %s", got.Summary())
	}
}
