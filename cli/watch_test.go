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
	if got := strings.Join(w.lines(), "\n"); !strings.Contains(got, "found since it goes on: 1 BROKEN") {
		t.Errorf("of a matrix that goes on it is not said since when: %s", got)
	}
	w.before = 0
	if got := strings.Join(w.lines(), "\n"); !strings.Contains(got, "\nfound: 1 BROKEN") {
		t.Error(got)
	}
	w.before = 2
	w.budget = 30 * time.Second
	if got := w.count(); got != "4 of 10 runs, 20s, about 10s left" {
		t.Error(got)
	}
	w.close()
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "[4/10] A × f: BROKEN, double grant: a promise broke") {
		t.Errorf("%q", got)
	}
}

// TestNotAsSure: to go on is the advice where more runs are begun; of a cell whose runs proved nothing none are.
func TestNotAsSure(t *testing.T) {
	var out strings.Builder
	b := progress.New(&out)
	sayWide(b, []checker.Cell{
		{Algorithm: "open", Runs: 2, Share: checker.NewShare(1, 2)},
		{Algorithm: "vain", Runs: 1000, Share: checker.NewShare(1, 2)},
		{Algorithm: "sure", Runs: 100, Share: checker.NewShare(0, 100)},
		{Algorithm: "n/a"},
	}, .2, "to go on: so")
	sayWide(b, []checker.Cell{{Runs: 2, Share: checker.NewShare(1, 2)}}, 0, "to go on: not asked for")
	b.Close()
	const want = "1 cell not as sure as was asked for: the interval is not narrower than 0.2; "
	if got := out.String(); got != want+"to go on: so\n"+want+"too many of the runs proved nothing, and none are added\n" {
		t.Errorf("%q", got)
	}
}
