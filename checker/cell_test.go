package checker

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

func TestCell(t *testing.T) {
	result := func(o lb.Outcome, seed uint64, outage, first float64, lost int) Result {
		return Result{Outcome: o, Reason: "reason of " + string(o), Sections: 10, OutageMS: outage,
			FirstViolationMS: first, Effect: history.Proof{Proven: true, Measured: "effect of " + string(o)},
			Plan:   history.Plan{Algorithm: "a", Fault: "f", Seed: seed},
			Copies: map[string]Copy{CopyPlain: {Writes: 5, Lost: lost, Stale: 1, Refused: 2, Skipped: 3}}}
	}
	c := Merge([]Result{
		result(lb.Safe, 1, 7, -1, 0), result(lb.Check, 2, 3, 40, 2),
		result(lb.Fence, 3, 4, 50, 1), result(lb.Fence, 4, 5, 45, 1), result(lb.Inconclusive, 5, 1, -1, 0),
	}, lb.Info{Name: "a"})
	want := Cell{Algorithm: "a", Fault: "f", Outcome: lb.Fence, Reason: "reason of FENCE", Runs: 5, Violations: 3,
		Sections: 50, OutageMS: 7, FirstViolationMS: 40, Effect: "effect of FENCE", Seed: 3}
	copies := map[string]Copy{CopyPlain: {Writes: 25, Lost: 4, Stale: 5, Refused: 10, Skipped: 15}}
	if !maps.Equal(c.Copies, copies) {
		t.Errorf("copies %+v, want %+v", c.Copies, copies)
	}
	if c.Copies = nil; c.Reason != want.Reason || c.Seed != want.Seed || c.Outcome != want.Outcome || c.Violations != want.Violations ||
		c.OutageMS != want.OutageMS || c.FirstViolationMS != want.FirstViolationMS || c.Sections != want.Sections ||
		c.Effect != want.Effect || c.Runs != want.Runs || c.Fault != want.Fault || c.Algorithm != want.Algorithm || c.Promise != "" {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

// TestUnproven: of several runs one in which the fault was seen to act is enough, and none has no fault to prove.
func TestUnproven(t *testing.T) {
	acted, not := history.Proof{Proven: true}, history.Proof{}
	for _, c := range []struct {
		fault   string
		effects []history.Proof
		want    bool
	}{
		{"f", []history.Proof{not, not}, true}, {"f", []history.Proof{not, acted}, false}, {"none", []history.Proof{not}, false},
	} {
		var runs []Result
		for _, e := range c.effects {
			runs = append(runs, Result{Outcome: lb.Broken, Effect: e, Plan: history.Plan{Fault: c.fault}})
		}
		if got := Merge(runs, lb.Info{}).Unproven; got != c.want {
			t.Errorf("%s %v: %v", c.fault, c.effects, got)
		}
	}
}

func TestDecisive(t *testing.T) {
	order := []lb.Outcome{lb.NotAvailable, lb.Safe, lb.Inconclusive, lb.Check,
		lb.Fence, lb.Stuck, lb.Broken}
	for i, worse := range order {
		for j, better := range order[:i] {
			runs := []Result{{Outcome: better}, {Outcome: worse}, {Outcome: worse}}
			if got := Decisive(runs, lb.Info{}); got != 1 {
				t.Errorf("%s (%d) against %s (%d): run %d", worse, i, better, j, got)
			}
		}
	}
	if got := Decisive(nil, lb.Info{}); got != -1 {
		t.Errorf("of no runs: %d", got)
	}
	if c := Merge(nil, lb.Info{Name: "a"}); c.Outcome != lb.NotAvailable || c.FirstViolationMS != -1 {
		t.Errorf("of no runs: %+v", c)
	}
}

func TestPromise(t *testing.T) {
	info := lb.Info{Expect: []lb.Expectation{
		{Fault: "pause-*", Outcomes: []lb.Outcome{lb.Safe}, Why: "by design", Source: "its page"},
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Check, lb.Fence}, Reason: lb.Overstay},
		{Fault: "restart", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant},
		{Fault: "[", Outcomes: []lb.Outcome{lb.Safe}},
	}}
	tests := []struct {
		fault    string
		outcome  lb.Outcome
		reason   string
		promise  string
		expected string
	}{
		{"pause-holder", lb.Check, "overstay: w1", "kept", "CHECK or FENCE by overstay"},
		{"pause-holder", lb.Check, "double grant: w1", "broken", "CHECK or FENCE by overstay"},
		{"pause-holder", lb.Safe, "", "broken", "CHECK or FENCE by overstay"},
		{"restart", lb.Broken, "vanished grant: w1", "kept", "BROKEN by double grant"},
		{"restart", lb.Broken, "overstay: w1", "broken", "BROKEN by double grant"},
		{"pause-leader", lb.Safe, "", "kept", "SAFE: by design (its page)"},
		{"pause-leader", lb.Inconclusive, "too few", "open", "SAFE: by design (its page)"},
		{"kill-leader", lb.Broken, "double grant: w1", "", ""},
	}
	for _, tt := range tests {
		c := Merge([]Result{{Plan: history.Plan{Fault: tt.fault}, Outcome: tt.outcome, Mechanism: named(tt.outcome, tt.reason), Reason: tt.reason,
			Effect: history.Proof{Proven: true}}}, info)
		if c.Promise != tt.promise || c.Expected != tt.expected {
			t.Errorf("%s %s %q: %q, %q", tt.fault, tt.outcome, tt.reason, c.Promise, c.Expected)
		}
	}
}

// TestPromiseOfEveryRun: whichever run comes first, no run may be hurt in a way that
// was not declared; and a hazard that was need not show in each.
func TestPromiseOfEveryRun(t *testing.T) {
	info := lb.Info{Expect: []lb.Expectation{
		{Fault: "f", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.Overstay}}}
	run := func(o lb.Outcome, reason string) Result {
		return Result{Plan: history.Plan{Fault: "f"}, Outcome: o, Mechanism: named(o, reason), Reason: reason, Effect: history.Proof{Proven: true}}
	}
	declared, other, safe := run(lb.Fence, "overstay: w1"), run(lb.Fence, "double grant: w1"), run(lb.Safe, "")
	without := func(r Result) Result { r.Effect.Proven = false; return r } // its fault had no effect
	milder, worse := without(run(lb.Check, "overstay: w1")), without(run(lb.Broken, "double grant: w1"))
	for _, tt := range []struct {
		runs    []Result
		promise string
		reason  string
	}{
		{[]Result{declared, other}, "broken", other.Reason},
		{[]Result{other, declared}, "broken", other.Reason},
		{[]Result{declared, safe}, "kept", declared.Reason},
		{[]Result{safe, declared}, "kept", declared.Reason},
		{[]Result{safe, safe}, "broken", ""},
		{[]Result{declared, run(lb.Check, "overstay: w1")}, "broken", declared.Reason},
		{[]Result{declared, milder}, "kept", declared.Reason},
		{[]Result{milder}, "open", milder.Reason},
		{[]Result{declared, worse}, "broken", worse.Reason},
		{[]Result{declared, run(lb.Fence, "vanished grant: w1")}, "broken", "vanished grant: w1"},
	} {
		if c := Merge(tt.runs, info); c.Promise != tt.promise || c.Reason != tt.reason {
			t.Errorf("%+v: %s, %q", tt.runs, c.Promise, c.Reason)
		}
	}
}

// TestRunsThatProveNothing: they decide if they are more than half and no other was hurt;
// else they are told of where the rest was safe.
func TestRunsThatProveNothing(t *testing.T) {
	const safe, nothing, fence = lb.Safe, lb.Inconclusive, lb.Fence
	for _, tt := range []struct {
		runs    []lb.Outcome
		outcome lb.Outcome
		reason  string
		nothing int
	}{
		{[]lb.Outcome{safe, safe}, safe, "why SAFE", 0},
		{[]lb.Outcome{nothing, safe, safe}, safe, "SAFE in 2 runs, 1 proved nothing; why SAFE", 1},
		{[]lb.Outcome{safe, nothing}, safe, "SAFE in 1 run, 1 proved nothing; why SAFE", 1},
		{[]lb.Outcome{safe, nothing, nothing}, nothing, "why INCONCLUSIVE", 2},
		{[]lb.Outcome{fence, nothing, nothing}, fence, "why FENCE", 2},
	} {
		var runs []Result
		for _, o := range tt.runs {
			runs = append(runs, Result{Outcome: o, Reason: "why " + string(o)})
		}
		if c := Merge(runs, lb.Info{}); c.Outcome != tt.outcome || c.Reason != tt.reason || c.Inconclusive != tt.nothing || c.Runs != len(runs) {
			t.Errorf("%v: %+v", tt.runs, c)
		}
	}
	harm := Result{Outcome: nothing, Reason: "cut short; harm was seen", Layers: []Layer{{Name: LayerStore, Verdict: Invalid}}}
	if c := Merge([]Result{{Outcome: safe}, {Outcome: safe}, harm}, lb.Info{}); c.Outcome != nothing || c.Reason != harm.Reason || c.Open() != "" {
		t.Errorf("harm in a run that proves nothing: %+v", c)
	}
	if c := Merge([]Result{{Outcome: safe}, {Outcome: nothing}}, lb.Info{}); c.Reason != "SAFE in 1 run, 1 proved nothing" {
		t.Errorf("without a reason: %q", c.Reason)
	}
}

// TestClaimsOfRuns: each claim that was not kept is told once, and the outage of the
// longest.
func TestClaimsOfRuns(t *testing.T) {
	c := Merge([]Result{
		{OutageMS: 7, Outage: "the longest", Claims: []Unkept{{"fair", "w1"}}},
		{OutageMS: 5, Outage: "a shorter one", Claims: []Unkept{{"fair", "w2"}, {"told", "w3"}}},
		{OutageMS: 6},
	}, lb.Info{})
	if !slices.Equal(c.Claims, []Unkept{{"fair", "w1"}, {"told", "w3"}}) || c.Outage != "the longest" || c.OutageMS != 7 {
		t.Errorf("%+v", c)
	}
}

// TestDeclaredMechanism: a declared mechanism is that of the harm: of a run that did none it asks
// nothing, and a sentence that begins with its name is not it.
func TestDeclaredMechanism(t *testing.T) {
	e := &lb.Expectation{Fault: "f", Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Reason: lb.DoubleGrant}
	for _, c := range []struct {
		outcome   lb.Outcome
		mechanism string
		want      string
	}{
		{lb.Safe, "", PromiseKept},
		{lb.Broken, lb.DoubleGrant, PromiseKept},
		{lb.Broken, lb.Overstay, PromiseBroken},
		{lb.Broken, "", PromiseBroken},
		{lb.Check, lb.DoubleGrant, PromiseBroken},
	} {
		r := Result{Plan: history.Plan{Algorithm: "a", Fault: "f"}, Outcome: c.outcome, Mechanism: c.mechanism, Reason: "double grant: or so"}
		if got := promise(e, []Result{r}, 0); got != c.want {
			t.Errorf("%s by %q: %s, want %s", c.outcome, c.mechanism, got, c.want)
		}
	}
}

// TestHarmWithoutProof: a run that failed and had shown what is declared breaks no promise; one that had shown worse does.
func TestHarmWithoutProof(t *testing.T) {
	shown := func(layer string, copies ...string) Result {
		r := Result{Plan: history.Plan{Algorithm: "a", Fault: "f"}, Outcome: lb.Inconclusive, Copies: map[string]Copy{}, Layers: []Layer{{Name: layer, Verdict: Invalid}}}
		for _, c := range copies {
			r.Copies[c] = Copy{Writes: 9, Lost: 1}
		}
		return r
	}
	hurt := func(copies ...string) Result { return shown(LayerStore, copies...) }
	for _, c := range []struct {
		declared []lb.Outcome
		seen     Result
		want     string
	}{
		{[]lb.Outcome{lb.Check}, hurt(CopyPlain), PromiseOpen},
		{[]lb.Outcome{lb.Broken}, hurt(CopyPlain), PromiseOpen},
		{[]lb.Outcome{lb.Safe}, hurt(CopyPlain), PromiseBroken},
		{[]lb.Outcome{lb.Safe, lb.Check}, hurt(CopyPlain, CopyChecked), PromiseBroken},
		{[]lb.Outcome{lb.Fence}, hurt(CopyPlain, CopyChecked), PromiseOpen},
		{[]lb.Outcome{lb.Check}, shown(LayerGrant), PromiseBroken},
		{[]lb.Outcome{lb.Broken}, shown(LayerBelief), PromiseOpen},
		{[]lb.Outcome{lb.Fence}, shown(LayerProgress), PromiseBroken},
		{[]lb.Outcome{lb.Stuck}, shown(LayerProgress), PromiseOpen},
	} {
		e := &lb.Expectation{Fault: "f", Outcomes: c.declared, Reason: lb.Overstay}
		if got := promise(e, []Result{c.seen}, 0); got != c.want {
			t.Errorf("declared %v, and seen %v, %v: %s, want %s", c.declared, c.seen.Layers, c.seen.Copies, got, c.want)
		}
	}
}

// TestOldFiles: files from before mechanisms had a field of their own are still read.
func TestOldFiles(t *testing.T) {
	for text, want := range map[string]string{
		`{"outcome":"BROKEN","reason":"double grant: two"}`:                       lb.DoubleGrant,
		`{"outcome":"STUCK","reason":"ghost: nobody"}`:                            lb.Ghost,
		`{"outcome":"SAFE","reason":"overstay: no harm"}`:                         "",
		`{"outcome":"BROKEN","reason":"an account is short"}`:                     "",
		`{"outcome":"BROKEN","mechanism":"overstay","reason":"double grant: so"}`: lb.Overstay,
	} {
		var r Result
		var c Cell
		if err := errors.Join(json.Unmarshal([]byte(text), &r), json.Unmarshal([]byte(text), &c)); err != nil {
			t.Fatal(err)
		}
		if r.Mechanism != want || c.Mechanism != want {
			t.Errorf("%s: %q and %q, want %q", text, r.Mechanism, c.Mechanism, want)
		}
	}
}
