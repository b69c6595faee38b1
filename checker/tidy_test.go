package checker

import (
	"fmt"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// worked is a run of two clients that take the lock in turn so often.
func worked(acquisitions int) (h history.Events) {
	for i := range acquisitions {
		ask := history.Event{At: at(10 * i), Kind: history.KindCall, Op: history.OpAcquire, Client: fmt.Sprintf("w1.c%d", i%2), Lock: "L", ID: fmt.Sprint(i)}
		got, give, back := ask, ask, ask
		got.At, got.Kind = ask.At+1000, history.KindReturn
		give.At, give.Op = ask.At+2000, history.OpRelease
		back.At, back.Op, back.Kind = ask.At+3000, history.OpRelease, history.KindReturn
		h = append(h, ask, got, give, back)
	}
	return append(h, history.Event{At: at(10 * acquisitions), Kind: history.KindEnd})
}

// TestTidy: what grows with each acquisition is told, and what is there once for each client is not.
func TestTidy(t *testing.T) {
	type count struct {
		ms   int
		name string
		n    int
	}
	for name, c := range map[string]struct {
		acquisitions int
		counts       []count
		fault        bool
		leaves       string
		want         Verdict
		says         string
	}{
		"counted once":     {100, []count{{0, "keys", 5}}, false, "", Vacuous, "nothing was counted twice"},
		"as before":        {100, []count{{0, "keys", 5}, {2000, "keys", 3}}, false, "", Valid, "in 100 acquisitions, by when all was given back: keys -2"},
		"a few for each":   {100, []count{{0, "keys", 5}, {2000, "keys", 13}}, false, "", Valid, "keys +8"},
		"one too many":     {80, []count{{0, "keys", 5}, {2000, "keys", 14}}, false, "", Invalid, "keys at s1 grew from 5 to 14 in 80 acquisitions, and were still there 1.200 s after the work had ended"},
		"not with each":    {100, []count{{0, "keys", 5}, {2000, "keys", 15}}, false, "", Valid, "keys +10"},
		"in the middle":    {100, []count{{0, "keys", 5}, {500, "keys", 55}, {2000, "keys", 5}}, false, "", Valid, "keys +0"},
		"declared":         {100, []count{{0, "keys", 5}, {2000, "keys", 105}}, false, "leases,keys", Valid, "keys +100"},
		"another declared": {100, []count{{0, "keys", 5}, {2000, "keys", 105}}, false, "leases", Invalid, "keys at s1 grew from 5 to 105"},
		"two of them": {100, []count{{0, "keys", 0}, {0, "leases", 0}, {2000, "keys", 90}, {2000, "leases", 100}}, false, "", Invalid,
			"leases at s1 grew from 0 to 100 in 100 acquisitions, and were still there 1.000 s after the work had ended; keys at s1"},
		"too few":       {8, []count{{0, "keys", 0}, {2000, "keys", 90}}, false, "", Vacuous, "8 acquisitions: too few"},
		"under a fault": {100, []count{{0, "keys", 0}, {2000, "keys", 90}}, true, "", Vacuous, "not judged where something went wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			h := worked(c.acquisitions)
			for _, n := range c.counts {
				h = append(h, history.Event{At: at(n.ms), Kind: history.KindCount, Name: n.name, Target: "s1", Count: n.n})
			}
			if c.fault {
				h = append(h, history.Event{At: 5, Kind: history.KindFault, Name: "f", Phase: history.PhaseStrike})
			}
			ix, err := history.Of(h)
			if err != nil {
				t.Fatal(err)
			}
			res := Check(t.Context(), history.Plan{Traits: lb.Traits{Leaves: c.leaves}}, ix)
			tellsBeside(t, res, LayerTidy, c.want, c.says)
		})
	}
}

// TestForgotten: who waits to the end while others come and go is told of, unless it may have been by
// chance, or it asks again by itself.
func TestForgotten(t *testing.T) {
	push := lb.Traits{Push: true}
	for name, c := range map[string]struct {
		acquisitions int
		traits       lb.Traits
		with         []history.Event
		want         Verdict
		says         string
	}{
		"never told":         {100, push, nil, Invalid, "w2.c0 asked for the lock at 0.150 s, and had no answer by the end, at 1.000 s, while others who asked later were granted it 84 times"},
		"not often enough":   {75, push, nil, Valid, ""},
		"it polls":           {100, lb.Traits{}, nil, Valid, ""},
		"it woke in between": {100, push, []history.Event{{At: at(600), Kind: history.KindWake, Client: "w2.c0", Name: "watch"}}, Valid, ""},
		"it woke at first": {100, push, []history.Event{{At: at(161), Kind: history.KindWake, Client: "w2.c0", Name: "watch"}}, Invalid,
			"at 0.150 s, and last woke at 0.161 s, and had no answer"},
		"it did not run": {100, push, []history.Event{{At: at(700), Kind: history.KindSilent, Worker: "w2", Call: at(650)}}, Valid, ""},
		"it gave up": {100, push, []history.Event{{At: at(900), Kind: history.KindReturn, Op: history.OpAcquire, Client: "w2.c0", Lock: "L", ID: "x", Result: lb.AnswerFailed}},
			Valid, ""},
		"it was told at the end": {100, push, []history.Event{{At: at(1001), Kind: history.KindReturn, Op: history.OpAcquire, Client: "w2.c0", Lock: "L", ID: "x", Result: lb.AnswerFailed}},
			Invalid, "had no answer by the end"},
		"a fault struck": {100, push, []history.Event{{At: 5, Kind: history.KindFault, Name: "f", Phase: history.PhaseStrike}}, Vacuous, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := append(worked(c.acquisitions), history.Event{At: at(150), Kind: history.KindCall, Op: history.OpAcquire, Client: "w2.c0", Lock: "L", ID: "x"})
			ix, err := history.Of(append(h, c.with...))
			if err != nil {
				t.Fatal(err)
			}
			l := judgeAnswers(newRun(history.Plan{Traits: c.traits, TTL: 1e9}, ix))
			if l.Verdict != c.want || !strings.Contains(l.Summary, c.says) {
				t.Errorf("%s: %s, want %s: %q", l.Verdict, l.Summary, c.want, c.says)
			}
		})
	}
}
