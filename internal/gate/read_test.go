package gate

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestOnce: of a cell that two files hold, the one with runs counts, in whichever order they are named; where both
// have some, nobody could say which counts.
func TestOnce(t *testing.T) {
	of := func(outcome lb.Outcome, runs int, reason string) []*Place {
		return Saved(rundir.Saved{Cells: []checker.Cell{{Algorithm: "A", Fault: "none", Outcome: outcome, Runs: runs, Reason: reason}}})
	}
	ran, elsewhere, pending := of(lb.Broken, 1, "harm"), of(lb.Inconclusive, 0, rundir.Elsewhere), of(lb.Inconclusive, 0, rundir.NotRun)
	for _, w := range []struct{ a, b, want []*Place }{
		{ran, elsewhere, ran}, {elsewhere, ran, ran}, {ran, pending, ran}, {pending, ran, ran},
		{elsewhere, pending, pending}, {pending, elsewhere, pending},
	} {
		once, err := Once(append(append([]*Place{}, w.a...), w.b...))
		if err != nil || len(once) != 1 || once[0] != w.want[0] {
			t.Errorf("%+v and %+v make %+v, %v", w.a[0].saved, w.b[0].saved, once, err)
		}
	}
	if _, err := Once(append(of(lb.Broken, 1, ""), of(lb.Safe, 1, "")...)); err == nil || !strings.Contains(err.Error(), "A under none") {
		t.Errorf("two with runs: %v", err)
	}
	other := of(lb.Safe, 1, "")
	other[0].Servers = "redis 7"
	if once, err := Once(append(of(lb.Broken, 1, ""), other...)); err != nil || len(once) != 2 {
		t.Errorf("on other servers: %d places, %v", len(once), err)
	}
}

// TestSavedHarm: a saved cell that proves nothing, and of which a run was hurt, breaks the promise, as it does in its directory.
func TestSavedHarm(t *testing.T) {
	conf, err := Parse("c.yaml", []byte("promises: [{fault: none, require: CHECK}]"))
	if err != nil {
		t.Fatal(err)
	}
	for violations, want := range map[int]Failure{0: Undecided, 1: Broken} {
		c := checker.Cell{Algorithm: "A", Fault: "none", Outcome: lb.Inconclusive, Runs: 1, Violations: violations, Reason: "nothing is proven"}
		_, found := conf.Judge(Saved(rundir.Saved{Cells: []checker.Cell{c}, Planned: 1}), nil, nil, Benches{})
		if len(found) != 1 || found[0].Kind != want {
			t.Errorf("%d violations: %+v, want %s", violations, found, want)
		}
	}
}
