package checker

import (
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestInstant: what a client does in one instant, one thing after the other, also where something
// else lies in between.
func TestInstant(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want Verdict
	}{
		"given back before the other was asked for": {"1 c A a; 2 r A a ok; 5 C A a; 5 R A a ok; 5 c A b; 5 r A b ok", Valid},
		"given back when the other was granted":     {"1 c A a; 2 r A a ok; 3 c A b; 5 r A b ok; 5 C A a; 6 R A a ok", Invalid},
		"the same with another lock in between":     {"1 c A a; 2 r A a ok; 3 c A b; 5 r A b ok; 5 c A m lock=m; 5 r A m ok lock=m; 5 C A a; 6 R A a ok", Invalid},
		"by two clients, which have no order":       {"1 c A a; 2 r A a ok; 3 c B b; 5 r B b ok; 5 C A a; 6 R A a ok", Valid},
		"lost, and then it held":                    {"1 c A a; 5 r A a ok; 5 C A a; 5 R A a lost; 5 C A a; 6 R A a ok", Invalid},
		"it held, and then it was lost":             {"1 c A a; 5 r A a ok; 5 C A a; 5 R A a ok; 5 C A a; 6 R A a lost", Valid},
		"two shared, in one instant one of another": {"1 c A a shared; 2 r A a ok; 3 c A b shared; 5 r A b ok; 5 C A a; 6 R A a ok; 5 c B x; 5 r B x ok; 5 C B x; 5 R B x ok", Invalid},
		"two shared, and the other a moment later":  {"1 c A a shared; 2 r A a ok; 3 c A b shared; 5 r A b ok; 5 C A a; 6 R A a ok; 5 c B x; 9 r B x ok; 8 C A b; 8 R A b ok", Valid},
	} {
		s := shorthand.Must(strings.ReplaceAll(tt.text, "; ", "\n"))
		ix, err := history.Of(s.Events)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l := layerOf(Check(t.Context(), s.Plan, ix), LayerGrant)
		if l.Verdict != tt.want || l.Verdict == Invalid && !l.Findings[0].Confirmed {
			t.Errorf("%s: %s, want %s: %s %+v", name, l.Verdict, tt.want, l.Summary, l.Findings)
		}
	}
}

// TestVerifierKeepsTurns: a witness in which a client's later call comes first is none, and
// porcupine knows no such order either.
func TestVerifierKeepsTurns(t *testing.T) {
	ops := []Op{{Call: 1, Return: 5, ID: 0, Client: 1, Order: 1}, {Call: 5, Return: 6, ID: 1, Kind: Release, Client: 1, Order: 2, Result: Lost}}
	if err := Verify(ops, Witness{{At: 5, Op: 1}, {At: 5, Op: 0}}, 1); err == nil || !strings.Contains(err.Error(), "lies before it") {
		t.Errorf("%v", err)
	}
	if err := Verify(ops, Witness{{At: 4, Op: 0}, {At: 5, Op: 1}}, 1); err != nil {
		t.Error(err)
	}
	ops = []Op{{Call: 5, Return: 5, ID: 0, Kind: Release, Client: 1, Order: 1}, {Call: 5, Return: 5, ID: 0, Client: 1, Order: 2}}
	if got := Linearizable(ops, 1, confirmTime); got != porcupine.Illegal {
		t.Error(got)
	}
}
