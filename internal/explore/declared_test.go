package explore

import (
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestDeclared: what orders showed is held against what the lock says of the fault that is most
// like it, at any step.
func TestDeclared(t *testing.T) {
	info := lb.Info{Expect: []lb.Expectation{
		{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}},
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Broken}},
		{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Safe}},
		{Fault: "kill@after-setnx", Outcomes: []lb.Outcome{lb.Stuck}},
	}}
	session := lb.Info{Traits: lb.Traits{Session: true}, Expect: []lb.Expectation{
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Fence}},
		{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Broken}},
		{Fault: "expire-waiter", Outcomes: []lb.Outcome{lb.Safe}},
		{Fault: "expire*", Outcomes: []lb.Outcome{lb.Check}},
		{Fault: "expire@after-put", Outcomes: []lb.Outcome{lb.Check}},
	}}
	for _, c := range []struct {
		of         lb.Info
		class      string
		outcome    lb.Outcome
		says       string
		undeclared bool
	}{
		{info, "nothing", lb.Safe, "as declared (none: SAFE)", false},
		{info, "nothing", lb.Broken, "not declared (none: SAFE)", true},
		{info, "1 expiry", lb.Check, "milder than declared (pause-holder: BROKEN)", false},
		{info, "1 crash", lb.Stuck, "as declared (kill-holder: SAFE; kill@after-setnx: STUCK)", false},
		{info, "1 crash", lb.Broken, "not declared (kill-holder: SAFE; kill@after-setnx: STUCK)", true},
		{info, "1 crash", lb.Fence, "not declared (kill-holder: SAFE; kill@after-setnx: STUCK)", true},
		{info, "1 expiry", lb.Fence, "milder than declared (pause-holder: BROKEN)", false},
		{info, "1 expiry", lb.Stuck, "not declared (pause-holder: BROKEN)", true},
		{info, "1 lost reply", lb.Safe, "", false},
		{info, "1 lost reply", lb.Broken, "", true},
		{info, "2 crashes", lb.Broken, "not declared (kill-holder: SAFE; kill@after-setnx: STUCK)", true},
		{session, "1 expiry", lb.Fence, "as declared (expire*: CHECK; pause-holder: FENCE; expire@after-put: CHECK)", false},
		{session, "1 expiry", lb.Broken, "not declared (expire*: CHECK; pause-holder: FENCE; expire@after-put: CHECK)", true},
		{session, "1 ended session", lb.Safe, "as declared (expire-waiter: SAFE)", false},
		{session, "2 ended sessions", lb.Fence, "not declared (expire-waiter: SAFE)", true},
	} {
		class := Class{Name: c.class, Outcomes: map[lb.Outcome]int{lb.Safe: 3, c.outcome: 1}}
		r := Result{Classes: []*Class{&class}, Violations: []Violation{{Class: c.class, Outcome: c.outcome}}}
		if r.Declare(c.of); class.Declared != c.says || r.Undeclared() != c.undeclared {
			t.Errorf("%s %s: %q, %v", c.class, c.outcome, class.Declared, r.Undeclared())
		}
	}
}

// TestTell: each move has a line, with what came to be known by it, and no line where nobody has
// told the events apart.
func TestTell(t *testing.T) {
	v := Violation{Schedule: Schedule{Moves: []Move{{"c1", Sends, "set"}, {Client: "c1", Do: Dies}}, Later: true},
		Events: history.Events{
			{Kind: history.KindCall, Op: history.OpAcquire, Client: "c1"},
			{Kind: history.KindReturn, Op: history.OpAcquire, Client: "c1"},
			{Kind: history.KindReturn, Op: history.OpAcquire, Client: "c2", Result: lb.AnswerUnknown},
		}, Marks: []int{1, 2, 2}}
	later := "then everybody goes on as far as possible, and time passes"
	for i, want := range []string{"c1 sends set: c1 is granted the lock", "c1 dies", later + ": c2 does not know whether it has the lock"} {
		if got := v.Tell(); len(got) != 3 || got[i] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	v.Marks = nil
	if got := v.Tell(); got[0] != "c1 sends set" || got[2] != later {
		t.Errorf("%q", got)
	}
}

// TestKeep: of each class and outcome the shortest are kept, and some more than one.
func TestKeep(t *testing.T) {
	var r Result
	long := make([]Move, 9)
	for n := 9; n > 0; n-- {
		r.keep(Violation{Schedule: Schedule{Moves: long[:n]}, Outcome: lb.Broken})
	}
	r.keep(Violation{Schedule: Schedule{Moves: long}, Outcome: lb.Stuck})
	r.keep(Violation{Schedule: Schedule{Moves: []Move{{Client: "c1", Do: Dies}}}, Outcome: lb.Broken})
	var got []int
	for _, v := range r.Violations {
		got = append(got, len(v.Moves))
	}
	if want := []int{1, 2, 3, 9, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
