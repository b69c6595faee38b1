package reports

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestTrend: a cell that was not the same in all sets is shown in each, and a figure as the comparison
// of the first benchmark with the last says; of the others it is said how many they are.
func TestTrend(t *testing.T) {
	cell := func(lock string, o lb.Outcome, how string) checker.Cell {
		return checker.Cell{Algorithm: lock, Fault: "f", Outcome: o, Mechanism: how, Runs: 1}
	}
	before, now := compareBenches()
	tr := NewTrend([]string{"monday", "tuesday", "friday"}, []rundir.Saved{
		{Bench: before, Cells: []checker.Cell{cell("a", lb.Safe, ""), cell("b", lb.Check, lb.Overstay), cell("gone", lb.Safe, "")}},
		{Cells: []checker.Cell{cell("a", lb.Safe, ""), cell("b", lb.Check, lb.DoubleGrant)}},
		{Bench: now, Cells: []checker.Cell{cell("a", lb.Safe, ""), cell("b", lb.Check, lb.Overstay), cell("new", lb.Safe, "")}},
	}, .1)
	var out bytes.Buffer
	if err := tr.Terminal(&out, false, 140); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^  3  friday$`,
		`1 cell changed; of 3 others no change is shown\.`,
		`\n  b × f +CHECK overstay +CHECK double +CHECK overstay\n`,
		`\n  redis-setpx-lua, acquire and release, alone, memory +122 µs +- +228 µs +worse ×1\.40 \(1\.37 to 1\.43\), held against the writes\n`,
		`1 figure changed from the first benchmark to the last; of 69 others no change is shown\.`,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	// Where not all fit, the newest do.
	out.Reset()
	if err := tr.Terminal(&out, false, 60); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "  b × f") && strings.TrimSpace(line) != "b × f  CHECK overstay  CHECK double  CHECK overstay" {
			t.Errorf("%q", line)
		}
	}
	if one := NewTrend([]string{"x", "y"}, []rundir.Saved{{}, {Bench: now}}, .1); len(one.Costs)+len(one.figures)+len(one.Cells) != 0 {
		t.Errorf("%+v", one)
	}
}

// trendSays is what is said of the sets, which are called 1 and so on.
func trendSays(t *testing.T, sets ...rundir.Saved) string {
	t.Helper()
	var out bytes.Buffer
	if err := NewTrend(make([]string, len(sets)), sets, .1).Terminal(&out, false, 300); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTrendOfCells: a cell has changed where a comparison says so, also if its outcome is the same, and one that was
// not run is not there.
func TestTrendOfCells(t *testing.T) {
	cell := func(lock, promise string, broke, runs int) checker.Cell {
		c := checker.Cell{Algorithm: lock, Fault: "f", Outcome: lb.Safe, Promise: promise, Runs: runs, Outcomes: map[lb.Outcome]int{lb.Broken: broke, lb.Safe: runs - broke}}
		if broke > 0 {
			c.Outcome = lb.Broken
		}
		return c
	}
	pending := func(lock, why string) checker.Cell {
		return checker.Cell{Algorithm: lock, Fault: "f", Outcome: lb.Inconclusive, Reason: why}
	}
	said := trendSays(t,
		rundir.Saved{Cells: []checker.Cell{cell("a", "kept", 1, 20), cell("b", "kept", 0, 20), pending("d", rundir.NotRun), cell("e", "", 0, 1), pending("never", rundir.NotRun)}},
		rundir.Saved{Cells: []checker.Cell{cell("a", "kept", 20, 20), cell("b", "broken", 0, 20), cell("d", "", 0, 1), pending("e", rundir.Elsewhere), pending("never", rundir.NotRun)}},
		rundir.Saved{Cells: []checker.Cell{cell("b", "kept", 0, 20)}})
	for _, want := range []string{
		`2 cells changed; of 2 others no change is shown\.\n`,
		`\n  a × f  BROKEN  BROKEN  - *\n    2: BROKEN in 1 of 20 runs → 20 of 20; if nothing had changed,`,
		`\n  b × f  SAFE    SAFE    SAFE\n    2: promise kept → broken\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// TestTrendOfCosts: a figure that the last benchmark has not, or of which too few rounds tell nothing, is not one
// that stayed.
func TestTrendOfCosts(t *testing.T) {
	before, now := compareBenches()
	now.Find(cost.Uncontended("redis-setpx-lua", cost.Memory)).Figures = nil
	said := trendSays(t, rundir.Saved{Bench: before}, rundir.Saved{Bench: now})
	if !strings.Contains(said, "; not measured in the last: ") || !regexp.MustCompile(`\n  redis-setpx-lua, acquire and release, alone, memory +122 µs +- +gone\n`).MatchString(said) || strings.Contains(said, "cells changed") {
		t.Error(said)
	}
	if said := trendSays(t, rundir.Saved{Bench: now}, rundir.Saved{Bench: before}); !strings.Contains(said, "; not measured in the first: ") {
		t.Error(said)
	}
	few := func() rundir.Saved {
		b := &cost.Bench{}
		b.Cell(cost.Uncontended("a", cost.Disk), "redis").Add(0, cost.Cycle, 1e6)
		b.Cells[0].Add(1, cost.Cycle, 2e6)
		return rundir.Saved{Bench: b}
	}
	if said := trendSays(t, few(), few()); !strings.Contains(said, "of 0 others no change is shown; of 1 nothing can be told: ") {
		t.Error(said)
	}
}
