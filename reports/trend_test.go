package reports

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
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
		`1 cell changed; of 3 cells nothing changed where they were run\.`,
		`\n  b × f +CHECK overstay +CHECK double +CHECK overstay\n`,
		`\n  redis-setpx-lua, acquire and release, alone, memory +122 µs +- +228 µs +worse ×1\.40 \(1\.37 to 1\.43\), held against the writes\n`,
		`1 figure changed from the first benchmark to the last; of 69 others no change is shown`,
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
	if one := NewTrend([]string{"x", "y"}, []rundir.Saved{{}, {Bench: now}}, .1); len(one.Costs)+one.Unchanged+len(one.Cells) != 0 {
		t.Errorf("%+v", one)
	}
}
