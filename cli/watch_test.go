package cli

import (
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
)

// TestWatch: what is no terminal gets a line for each cell that is whole, and the counts
// are of runs.
func TestWatch(t *testing.T) {
	var out strings.Builder
	w := newWatch(progress.New(&out), 0, 0)
	broken := checker.Cell{Outcome: lb.Broken, Mechanism: lb.DoubleGrant, Reason: lb.DoubleGrant + ": two at once", Promise: checker.PromiseBroken}
	w.see(run.Progress{Algorithm: "A", Fault: "f", Run: 1, Phase: "the servers start", Done: 2, Total: 10})
	w.see(run.Progress{Algorithm: "A", Fault: "f", Run: 2, Phase: "6 clients work", Done: 2, Total: 10})
	w.see(run.Progress{Algorithm: "A", Fault: "f", Run: 2, Cell: broken, Done: 3, Total: 10})
	if len(w.now) != 1 || w.now[0].n != 1 || out.Len() > 0 {
		t.Errorf("going on: %+v; said %q", w.now, out.String())
	}
	w.see(run.Progress{Algorithm: "A", Fault: "f", Run: 1, Cell: broken, Whole: true, Done: 4, Total: 10})
	w.start = time.Now().Add(-20 * time.Second) // for the two runs that were not done before
	if got := w.count(); got != "4 of 10 runs, 20s, about 1m0s left" {
		t.Error(got)
	}
	if got := w.found(); got != "1 BROKEN, 1 not as declared" {
		t.Error(got)
	}
	w.budget = 30 * time.Second
	if got := w.count(); got != "4 of 10 runs, 20s, about 10s left" {
		t.Error(got)
	}
	w.close()
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "[4/10] A × f: BROKEN, double grant: a promise broke") {
		t.Errorf("%q", got)
	}
}
