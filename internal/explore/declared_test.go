package explore

import (
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
	every "github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
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
	heard := lb.Info{Expect: []lb.Expectation{
		{Fault: "lost-grant", Outcomes: []lb.Outcome{lb.Broken}}, // there the connection stands, and what comes late is heard
		{Fault: "reset-grant", Outcomes: []lb.Outcome{lb.Stuck}},
		{Fault: "reset-reply", Outcomes: []lb.Outcome{lb.Safe}},
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
		class      rundir.Class
		outcome    lb.Outcome
		says       string
		undeclared bool
	}{
		{info, nil, lb.Safe, "as declared (none: SAFE)", false},
		{info, nil, lb.Broken, "not declared (none: SAFE)", true},
		{info, rundir.Class{{What: "expiry", Times: 1}}, lb.Check, "milder than declared (pause-holder: BROKEN)", false},
		{info, rundir.Class{{What: "crash", Times: 1}}, lb.Stuck, "as declared (kill-holder: SAFE; kill@after-setnx: STUCK)", false},
		{info, rundir.Class{{What: "crash", Times: 1}}, lb.Broken, "not declared (kill-holder: SAFE; kill@after-setnx: STUCK)", true},
		{info, rundir.Class{{What: "crash", Times: 1}}, lb.Fence, "not declared (kill-holder: SAFE; kill@after-setnx: STUCK)", true},
		{info, rundir.Class{{What: "expiry", Times: 1}}, lb.Fence, "milder than declared (pause-holder: BROKEN)", false},
		{info, rundir.Class{{What: "expiry", Times: 1}}, lb.Stuck, "not declared (pause-holder: BROKEN)", true},
		{info, rundir.Class{{What: "lost reply", Times: 1}}, lb.Safe, "", false},
		{heard, rundir.Class{{What: "lost reply", Times: 2}}, lb.Stuck, "as declared (reset-grant: STUCK; reset-reply: SAFE)", false},
		{heard, rundir.Class{{What: "lost reply", Times: 1}, {What: "crash", Times: 1}}, lb.Stuck, "as declared (reset-grant: STUCK; reset-reply: SAFE)", false},
		{info, rundir.Class{{What: "lost reply", Times: 1}}, lb.Broken, "", true},
		{info, rundir.Class{{What: "crash", Times: 2}}, lb.Broken, "not declared (kill-holder: SAFE; kill@after-setnx: STUCK)", true},
		{session, rundir.Class{{What: "expiry", Times: 1}}, lb.Fence, "as declared (expire*: CHECK; pause-holder: FENCE; expire@after-put: CHECK)", false},
		{session, rundir.Class{{What: "expiry", Times: 1}}, lb.Broken, "not declared (expire*: CHECK; pause-holder: FENCE; expire@after-put: CHECK)", true},
		{session, rundir.Class{{What: "ended session", Times: 1}}, lb.Safe, "as declared (expire-waiter: SAFE)", false},
		{session, rundir.Class{{What: "ended session", Times: 2}}, lb.Fence, "not declared (expire-waiter: SAFE)", true},
	} {
		class := rundir.ExploredClass{Class: c.class, Outcomes: map[lb.Outcome]int{lb.Safe: 3, c.outcome: 1}}
		r := Result{Found: rundir.Found{Classes: []*rundir.ExploredClass{&class}}, Violations: []Violation{{ExploredOrder: rundir.ExploredOrder{Class: c.class, Outcome: c.outcome}}}}
		if r.Declare(c.of); class.Declared != c.says || r.Undeclared() != c.undeclared {
			t.Errorf("%s %s: %q, %v", c.class, c.outcome, class.Declared, r.Undeclared())
		}
	}
}

// TestLikeFaults: what a client lives through in an order and what it lives through in a run are one list:
// each move that goes wrong names faults that there are, and each fault of clients and their network is
// like a move or stands here with the reason why no order has it.
func TestLikeFaults(t *testing.T) {
	const (
		long   = "that move with another length or at another step"
		silent = "an answer that comes late or never while its connection stands: a client in an order waits for it, and time passes by expiries"
		link   = "its client is slow, or hears nothing: orders in which others come first, and expiries"
		double = "clients of orders have one process each"
	)
	without := map[string]string{
		"pause-client": long, "pause": long, "kill": long, "slow-work": "time passes only where nobody runs",
		"kill@after-setnx": long, "pause@before-write": "no order stops between the look at the lease and the write",
		"lost-grant": silent, "late-grant": silent, "lose-reply": silent, "slow-reply": silent,
		"cut-holder": link, "cut-rejoin": link, "cut": link, "cut-halves": link, "one-way-cut": link, "flapping-link": link, "lossy-link": link,
		"reconnect-storm": "a lost reply of several clients at once",
		"restart-holder":  double, "twin-holder": double, "shared-session": double,
		"release-twice": "callers of orders give back once",
		"random":        "many faults", "soak": "many faults",
	}
	all := append(every.All(), every.More()...)
	liked := map[string]bool{}
	for _, w := range wrongs {
		for _, name := range slices.Concat(w.like.faults, w.like.sessions) {
			liked[name] = true
			if _, err := every.Find(all, name); err != nil {
				t.Errorf("%s is like %s: %v", w.what, name, err)
			}
		}
		for _, kind := range slices.Concat(w.like.atSteps, w.like.sessionsAtSteps) {
			if _, err := every.Find(all, kind+"@before-write"); err != nil {
				t.Errorf("%s is like %s at a step: %v", w.what, kind, err)
			}
		}
	}
	for _, f := range all {
		strikes := f.Family == every.Clients || f.Family == every.Network
		switch name := f.Name; {
		case liked[name] && without[name] != "":
			t.Errorf("%s is like a move, and is said to be like none", name)
		case strikes && !liked[name] && without[name] == "":
			t.Errorf("no move is like %s: name it with one, or say here why no order has it", name)
		}
		delete(without, f.Name)
	}
	for name := range without {
		t.Errorf("there is no fault %s", name)
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
		r.keep(Violation{Schedule: Schedule{Moves: long[:n]}, ExploredOrder: rundir.ExploredOrder{Outcome: lb.Broken}})
	}
	r.keep(Violation{Schedule: Schedule{Moves: long}, ExploredOrder: rundir.ExploredOrder{Outcome: lb.Stuck}})
	r.keep(Violation{Schedule: Schedule{Moves: []Move{{Client: "c1", Do: Dies}}}, ExploredOrder: rundir.ExploredOrder{Outcome: lb.Broken}})
	var got []int
	for _, v := range r.Violations {
		got = append(got, len(v.Moves))
	}
	if want := []int{1, 2, 3, 9, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
