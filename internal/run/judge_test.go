package run

import (
	"context"
	"errors"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
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
		res := lb.RunResult{Outcome: before, Reason: "why"}
		cut(&res, rundir.ErrCutShort)
		if res.Outcome != want.outcome || res.Reason != want.reason {
			t.Errorf("%s: %s (%s)", before, res.Outcome, res.Reason)
		}
	}
}

// TestMerge takes the runs in the order of their numbers, whichever ended first.
func TestMerge(t *testing.T) {
	expect := &lb.Expectation{Fault: "f", Outcomes: []lb.Outcome{lb.Safe}}
	result := func(o lb.Outcome) lb.RunResult {
		return lb.RunResult{Plan: lb.Plan{Algorithm: "A", Fault: "f", Expect: expect}, Outcome: o}
	}
	dir := func(n int) string { return string(rune('a' + n)) }
	for _, c := range []struct {
		results map[int]lb.RunResult
		dir     string
		promise string
	}{
		{map[int]lb.RunResult{2: result(lb.Safe), 1: result(lb.Safe)}, "b", "kept"},
		{map[int]lb.RunResult{2: result(lb.Broken), 0: result(lb.Safe)}, "c", "broken"},
		{map[int]lb.RunResult{0: result(lb.Safe), 3: failed(result(lb.Safe).Plan, context.Canceled)}, "d", "open"},
	} {
		cell := merge(c.results, dir)
		if cell.Dir != c.dir || cell.Promise != c.promise || cell.Runs != len(c.results) || cell.Algorithm != "A" {
			t.Errorf("%+v, want %s, promise %q", cell, c.dir, c.promise)
		}
	}
}

func TestFailed(t *testing.T) {
	if r := failed(lb.Plan{}, context.Canceled).Reason; r != "the run was interrupted" {
		t.Error(r)
	}
	if r := failed(lb.Plan{}, errors.New("no disk")).Reason; r != "the run failed: no disk" {
		t.Error(r)
	}
}

type oneLock struct{ lb.Impl }

func (oneLock) Info() lb.Info {
	return lb.Info{Name: "one", Topologies: []string{"none"}, Traits: lb.Traits{Leased: true}, Expect: []lb.Expectation{
		{Fault: "n*", Outcomes: []lb.Outcome{lb.Broken}}, {Fault: "none", Outcomes: []lb.Outcome{lb.Safe}}}}
}

type calm struct{ lb.Fault }

func (calm) Name() string               { return "none" }
func (calm) Available(lb.Setting) error { return nil }

// TestPlanSaysAll: a plan carries all that judging needs.
func TestPlanSaysAll(t *testing.T) {
	m := Matrix{Workload: workloads.Counter{}, Jobs: 4, Base: lb.Plan{Seed: 5}}
	plan := m.For(oneLock{}, calm{}, 2)
	if !plan.Traits.Leased || plan.Expect == nil || plan.Expect.Outcomes[0] != lb.Safe || plan.Jobs != 4 || plan.Seed != 7 {
		t.Errorf("%+v", plan)
	}
	if h := here(); h.Cores < 1 || !strings.Contains(h.System, "/") {
		t.Errorf("machine %+v", h)
	}
	if v := versions(t.Context(), plan); v["go"] == "" || v[module] == "" {
		t.Errorf("versions %v", v)
	}
}
