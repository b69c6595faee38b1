package run

import (
	"context"
	"errors"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/workloads"
)

// TestCut: harm stays, everything else is taken back.
func TestCut(t *testing.T) {
	for before, want := range map[lb.Outcome]struct {
		outcome lb.Outcome
		reason  string
	}{
		lb.Broken:       {lb.Broken, "why"},
		lb.Stuck:        {lb.Stuck, "why"},
		lb.Safe:         {lb.Inconclusive, "the run was cut short"},
		lb.Inconclusive: {lb.Inconclusive, "the run was cut short"},
		lb.Check:        {lb.Inconclusive, "the run was cut short; harm was seen: why"},
		lb.Fence:        {lb.Inconclusive, "the run was cut short; harm was seen: why"},
	} {
		res := checker.Result{Outcome: before, Mechanism: "how", Reason: "why"}
		cut(&res, rundir.ErrCutShort)
		if res.Outcome != want.outcome || res.Reason != want.reason || (res.Mechanism == "") != (res.Outcome == lb.Inconclusive) {
			t.Errorf("%s: %s by %q (%s)", before, res.Outcome, res.Mechanism, res.Reason)
		}
	}
}

// TestMerge takes the runs in the order of their numbers, whichever ended first.
func TestMerge(t *testing.T) {
	expect := &lb.Expectation{Fault: "f", Outcomes: []lb.Outcome{lb.Safe}}
	result := func(o lb.Outcome) checker.Result {
		return checker.Result{Plan: history.Plan{Algorithm: "A", Fault: "f", Expect: expect}, Outcome: o}
	}
	dir := func(n int) string { return string(rune('a' + n)) }
	for _, c := range []struct {
		results map[int]checker.Result
		dir     string
		promise string
	}{
		{map[int]checker.Result{2: result(lb.Safe), 1: result(lb.Safe)}, "b", "kept"},
		{map[int]checker.Result{2: result(lb.Broken), 0: result(lb.Safe)}, "c", "broken"},
		{map[int]checker.Result{0: result(lb.Safe), 3: failed(result(lb.Safe).Plan, context.Canceled)}, "a", "kept"},
		{map[int]checker.Result{0: failed(result(lb.Safe).Plan, context.Canceled)}, "a", "open"},
	} {
		cell := merge(c.results, dir)
		if cell.Dir != c.dir || cell.Promise != c.promise || cell.Runs != len(c.results) || cell.Algorithm != "A" {
			t.Errorf("%+v, want %s, promise %q", cell, c.dir, c.promise)
		}
	}
}

func TestFailed(t *testing.T) {
	if r := failed(history.Plan{}, context.Canceled).Reason; r != "the run was interrupted" {
		t.Error(r)
	}
	if r := failed(history.Plan{}, errors.New("no disk")).Reason; r != "the run failed: no disk" {
		t.Error(r)
	}
}

type oneLock struct{ lb.Impl }

func (oneLock) Info() lb.Info {
	return lb.Info{Name: "one", Topologies: []string{"none"}, Traits: lb.Traits{Leased: true}, Expect: []lb.Expectation{
		{Fault: "n*", Outcomes: []lb.Outcome{lb.Broken}}, {Fault: "none", Outcomes: []lb.Outcome{lb.Safe}}}}
}

// TestPlanSaysAll: a plan carries all that judging needs.
func TestPlanSaysAll(t *testing.T) {
	m := Matrix{Catalog: catalog.Catalog{}, Workload: workloads.Counter{}, Jobs: 4, Base: history.Plan{Seed: 5}}
	plan := m.For(oneLock{}, faults.All()[0], 2)
	if !plan.Traits.Leased || plan.Expect == nil || plan.Expect.Outcomes[0] != lb.Safe || plan.Jobs != 4 || plan.Seed != 7 {
		t.Errorf("%+v", plan)
	}
	if h := Here(); h.Cores < 1 || !strings.Contains(h.System, "/") {
		t.Errorf("machine %+v", h)
	}
	if v := versions(t.Context(), catalog.Catalog{}, plan); v["go"] == "" || v[Module] == "" {
		t.Errorf("versions %v", v)
	}
}
