package checker

import (
	"maps"
	"testing"

	"github.com/lockbench/lockbench"
)

func TestCell(t *testing.T) {
	result := func(o lockbench.Outcome, seed uint64, outage, first float64, lost int) lockbench.RunResult {
		return lockbench.RunResult{Outcome: o, Reason: "reason of " + string(o), Sections: 10, OutageMS: outage,
			FirstViolationMS: first, Effect: lockbench.Effect{Bit: true, Measured: "effect of " + string(o)},
			Plan:   lockbench.Plan{Algorithm: "a", Fault: "f", Seed: seed},
			Copies: map[string]lockbench.Copy{CopyPlain: {Writes: 5, Lost: lost, Stale: 1, Refused: 2, Skipped: 3}}}
	}
	c := Cell([]lockbench.RunResult{
		result(lockbench.Safe, 1, 7, -1, 0), result(lockbench.Check, 2, 3, 40, 2),
		result(lockbench.Fence, 3, 4, 50, 1), result(lockbench.Fence, 4, 5, 45, 1), result(lockbench.Inconclusive, 5, 1, -1, 0),
	}, lockbench.Info{Name: "a"})
	want := lockbench.Cell{Algorithm: "a", Fault: "f", Outcome: lockbench.Fence, Reason: "reason of FENCE", Runs: 5, Violations: 3,
		Sections: 50, OutageMS: 7, FirstViolationMS: 40, Effect: "effect of FENCE", Seed: 3}
	copies := map[string]lockbench.Copy{CopyPlain: {Writes: 25, Lost: 4, Stale: 5, Refused: 10, Skipped: 15}}
	if !maps.Equal(c.Copies, copies) {
		t.Errorf("copies %+v, want %+v", c.Copies, copies)
	}
	if c.Copies = nil; c.Reason != want.Reason || c.Seed != want.Seed || c.Outcome != want.Outcome || c.Violations != want.Violations ||
		c.OutageMS != want.OutageMS || c.FirstViolationMS != want.FirstViolationMS || c.Sections != want.Sections ||
		c.Effect != want.Effect || c.Runs != want.Runs || c.Fault != want.Fault || c.Algorithm != want.Algorithm || c.Promise != "" {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestDecisive(t *testing.T) {
	order := []lockbench.Outcome{lockbench.NotAvailable, lockbench.Safe, lockbench.Inconclusive, lockbench.Check,
		lockbench.Fence, lockbench.Stuck, lockbench.Broken}
	for i, worse := range order {
		for j, better := range order[:i] {
			runs := []lockbench.RunResult{{Outcome: better}, {Outcome: worse}, {Outcome: worse}}
			if got := Decisive(runs, lockbench.Info{}); got != 1 {
				t.Errorf("%s (%d) against %s (%d): run %d", worse, i, better, j, got)
			}
		}
	}
	if got := Decisive(nil, lockbench.Info{}); got != -1 {
		t.Errorf("of no runs: %d", got)
	}
	if c := Cell(nil, lockbench.Info{Name: "a"}); c.Outcome != lockbench.NotAvailable || c.FirstViolationMS != -1 {
		t.Errorf("of no runs: %+v", c)
	}
}

func TestPromise(t *testing.T) {
	info := lockbench.Info{Expect: []lockbench.Expectation{
		{Fault: "pause-*", Outcomes: []lockbench.Outcome{lockbench.Safe}, Why: "by design", Source: "its page"},
		{Fault: "pause-holder", Outcomes: []lockbench.Outcome{lockbench.Check, lockbench.Fence}, Reason: lockbench.Overstay},
		{Fault: "[", Outcomes: []lockbench.Outcome{lockbench.Safe}},
	}}
	tests := []struct {
		fault    string
		outcome  lockbench.Outcome
		reason   string
		promise  string
		expected string
	}{
		{"pause-holder", lockbench.Check, "overstay: w1", "kept", "CHECK or FENCE by overstay"},
		{"pause-holder", lockbench.Check, "double grant: w1", "broken", "CHECK or FENCE by overstay"},
		{"pause-holder", lockbench.Safe, "", "broken", "CHECK or FENCE by overstay"},
		{"pause-leader", lockbench.Safe, "", "kept", "SAFE: by design (its page)"},
		{"pause-leader", lockbench.Inconclusive, "too few", "open", "SAFE: by design (its page)"},
		{"kill-leader", lockbench.Broken, "double grant: w1", "", ""},
	}
	for _, tt := range tests {
		c := Cell([]lockbench.RunResult{{Plan: lockbench.Plan{Fault: tt.fault}, Outcome: tt.outcome, Reason: tt.reason}}, info)
		if c.Promise != tt.promise || c.Expected != tt.expected {
			t.Errorf("%s %s %q: %q, %q", tt.fault, tt.outcome, tt.reason, c.Promise, c.Expected)
		}
	}
}

// TestPromiseOfEveryRun: whichever run comes first, no run may be hurt in a way that
// was not declared; and a hazard that was need not show in each.
func TestPromiseOfEveryRun(t *testing.T) {
	info := lockbench.Info{Expect: []lockbench.Expectation{
		{Fault: "f", Outcomes: []lockbench.Outcome{lockbench.Fence}, Reason: lockbench.Overstay}}}
	run := func(o lockbench.Outcome, reason string) lockbench.RunResult {
		return lockbench.RunResult{Plan: lockbench.Plan{Fault: "f"}, Outcome: o, Reason: reason}
	}
	declared, other, safe := run(lockbench.Fence, "overstay: w1"), run(lockbench.Fence, "double grant: w1"), run(lockbench.Safe, "")
	for _, tt := range []struct {
		runs    []lockbench.RunResult
		promise string
		reason  string
	}{
		{[]lockbench.RunResult{declared, other}, "broken", other.Reason},
		{[]lockbench.RunResult{other, declared}, "broken", other.Reason},
		{[]lockbench.RunResult{declared, safe}, "kept", declared.Reason},
		{[]lockbench.RunResult{safe, declared}, "kept", declared.Reason},
		{[]lockbench.RunResult{safe, safe}, "broken", ""},
		{[]lockbench.RunResult{declared, run(lockbench.Check, "overstay: w1")}, "broken", declared.Reason},
	} {
		if c := Cell(tt.runs, info); c.Promise != tt.promise || c.Reason != tt.reason {
			t.Errorf("%+v: %s, %q", tt.runs, c.Promise, c.Reason)
		}
	}
}
