package reports

import (
	"io/fs"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestClocks: a report says how well events of several clocks are put together, and what that costs; of one clock it
// says nothing.
func TestClocks(t *testing.T) {
	cell := func(fault string, bound float64, other int) checker.Cell {
		return checker.Cell{Algorithm: "a", Fault: fault, Outcome: lb.Safe, Runs: 5, ClockErrorMS: bound, IfEven: other}
	}
	for _, tt := range []struct {
		cells []checker.Cell
		says  []string
	}{
		{[]checker.Cell{cell("none", 0, 0)}, nil},
		{[]checker.Cell{cell("none", 0.4211, 0), cell("cut", 1.25, 0)}, []string{"within ±1.25ms:", "each run would have the same outcome."}},
		{[]checker.Cell{cell("none", 0.4211, 1), cell("cut", 0.3, 2), cell("pause", 0, 0)}, []string{"within ±421µs:", "3 of 10 runs would have another outcome."}},
	} {
		said := newGrid(tt.cells, 5).clocks()
		if (said == "") != (tt.says == nil) {
			t.Errorf("%+v: %q", tt.cells, said)
		}
		for _, s := range tt.says {
			if !strings.Contains(said, s) {
				t.Errorf("%q does not say %q", said, s)
			}
		}
		var b strings.Builder
		if err := Matrix(&b, tt.cells, 5, false, 2000); err != nil || said != "" && !strings.Contains(b.String(), said) {
			t.Errorf("the terminal: %v\n%s", err, &b)
		}
		none := func(checker.Cell) (*rundir.Run, error) { return nil, fs.ErrNotExist }
		v := newView(&page{cells: tt.cells, planned: 5, run: none}, nil, place{}, true) // of the page and Markdown
		if got := strings.Join(v.Notes, " "); got != said {
			t.Errorf("the page: %q", got)
		}
	}
}
