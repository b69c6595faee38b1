package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
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

// TestLeaveOpen: where clocks may hide worse, nothing less is said of a run; what was seen stands.
func TestLeaveOpen(t *testing.T) {
	for _, tt := range []struct{ seen, even, want lb.Outcome }{
		{lb.Safe, lb.Broken, lb.Inconclusive}, {lb.Safe, lb.Check, lb.Inconclusive}, {lb.Safe, lb.Stuck, lb.Inconclusive},
		{lb.Check, lb.Broken, lb.Inconclusive}, {lb.Check, lb.Fence, lb.Inconclusive}, {lb.Fence, lb.Broken, lb.Inconclusive},
		{lb.Safe, lb.Inconclusive, lb.Safe}, {lb.Inconclusive, lb.Broken, lb.Inconclusive}, {lb.Inconclusive, lb.Safe, lb.Inconclusive},
		{lb.Broken, lb.Safe, lb.Broken}, {lb.Broken, lb.Stuck, lb.Broken}, {lb.Stuck, lb.Broken, lb.Stuck}, {lb.Check, lb.Safe, lb.Check},
	} {
		res := checker.Result{Outcome: tt.seen, Mechanism: "how", Reason: "why"}
		leaveOpen(&res, checker.Result{Outcome: tt.even, Reason: "worse"})
		taken := tt.want != tt.seen
		if res.Outcome != tt.want || taken != strings.Contains(res.Reason, "worse") || taken == (res.Mechanism != "") || taken == (len(res.Notes) > 0) {
			t.Errorf("%s, if even %s: %s by %q (%s), notes %q", tt.seen, tt.even, res.Outcome, res.Mechanism, res.Reason, res.Notes)
		}
	}
}

// TestJudgeClocks: a lock that is granted twice for less than clocks err is not convicted, and not acquitted. What errs
// less shows it.
func TestJudgeClocks(t *testing.T) {
	r, err := rundir.CreateRun(filepath.Join(t.TempDir(), "run"), history.Plan{Algorithm: "one", Fault: "none", Processes: 2, Clients: 2})
	if err != nil {
		t.Fatal(err)
	}
	for recorder, text := range map[string]string{
		"w1": "ms;1000 c w1.A a;1001 r w1.A a ok;1100 C w1.A a;1101 R w1.A a ok",
		"w2": "ms;1097 c w2.B b;1098 r w2.B b ok;1200 C w2.B b;1201 R w2.B b ok", "runner": "ms;1300 end", "store": "",
	} {
		if err := history.Write(r.EventsFile(recorder), shorthand.Must(text).Events); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(r.EventsFile("w1"))
	if err != nil {
		t.Fatal(err)
	}
	const own = `"version":1,"clock":{"name":"w1","error_ns":500000}`
	if err := os.WriteFile(r.EventsFile("w1"), bytes.Replace(text, []byte(`"version":1`), []byte(own), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		errs    history.ClockErrors
		outcome lb.Outcome
		even    lb.Outcome
		says    string
	}{
		{history.ClockErrors{}, lb.Broken, "", "both relied"},
		{history.ClockErrors{Likely: true}, lb.Broken, "", "both relied"},
		{history.ClockErrors{Least: 10 * time.Millisecond}, lb.Inconclusive, lb.Broken, ""},
	} {
		res, err := JudgeAs(t.Context(), catalog.Catalog{}, r, tt.errs)
		if err != nil || res.Outcome != tt.outcome || res.IfEven != tt.even || !strings.Contains(res.Reason, tt.says) {
			t.Errorf("%+v: %s, if even %q: %s (%v)", tt.errs, res.Outcome, res.IfEven, res.Reason, err)
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
