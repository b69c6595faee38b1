package checker

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestShare: what is still open of a cell is said of the runs that proved something.
func TestShare(t *testing.T) {
	run := func(o lb.Outcome) Result { return Result{Outcome: o, Plan: history.Plan{Algorithm: "a", Fault: "f"}} }
	hurt := run(lb.Inconclusive)
	hurt.Layers = []Layer{{Name: LayerStore, Verdict: Invalid}}
	for _, c := range []struct {
		runs        []Result
		share, open string
	}{
		{[]Result{run(lb.Safe)}, "0 of 1 run (95% interval 0–95%)", "1 run: up to 95% could still break"},
		{[]Result{run(lb.Safe), run(lb.Inconclusive), run(lb.Safe)}, "0 of 2 runs (95% interval 0–78%)", "2 runs: up to 78% could still break"},
		{[]Result{run(lb.Safe), hurt, run(lb.Safe)}, "1 of 3 runs (95% interval 6.1–79%)", ""},
		{[]Result{run(lb.Broken)}, "1 of 1 run (95% interval 5.0–100%)", ""},
		{[]Result{run(lb.Inconclusive)}, "0 of 0 runs (95% interval 0–100%)", ""},
	} {
		cell := Merge(c.runs, lb.Info{})
		if got := cell.Share.String(); got != c.share {
			t.Errorf("share %q, want %q", got, c.share)
		}
		if got := cell.Open(); got != c.open {
			t.Errorf("open %q, want %q", got, c.open)
		}
	}
	if cell := Merge(nil, lb.Info{}); cell.Share != nil || cell.Open() != "" {
		t.Errorf("of no runs: %v, %q", cell.Share, cell.Open())
	}
}
