package main

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// TestRow: what errors invent is counted as wrong, and what they hide is not.
func TestRow(t *testing.T) {
	result := func(o lb.Outcome, grant checker.Verdict) checker.Result {
		return checker.Result{Outcome: o, Layers: []checker.Layer{{Name: "grant", Verdict: grant}},
			Plan: history.Plan{Expect: &lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Broken}}}}
	}
	for _, tt := range []struct {
		truth, seen checker.Result
		want        row
	}{
		{result(lb.Broken, checker.Invalid), result(lb.Broken, checker.Invalid), row{same: 1}},
		{result(lb.Broken, checker.Invalid), result(lb.Inconclusive, checker.Valid), row{undecided: 1}},
		{result(lb.Broken, checker.Invalid), result(lb.Safe, checker.Valid), row{less: 1}},
		{result(lb.Broken, checker.Invalid), result(lb.Check, checker.Valid), row{less: 1}},
		{result(lb.Safe, checker.Valid), result(lb.Safe, checker.Valid), row{unhurt: 1}},
		{result(lb.Safe, checker.Valid), result(lb.Inconclusive, checker.Undecided), row{unhurtUndecided: 1}},
		{result(lb.Inconclusive, checker.Valid), result(lb.Inconclusive, checker.Valid), row{unhurt: 1}},
		{result(lb.Safe, checker.Valid), result(lb.Broken, checker.Valid), row{wrong: 1}},
		{result(lb.Safe, checker.Valid), result(lb.Inconclusive, checker.Invalid), row{wrong: 1}},
		{result(lb.Check, checker.Valid), result(lb.Broken, checker.Valid), row{wrong: 1}},
		{result(lb.Stuck, checker.Valid), result(lb.Stuck, checker.Valid), row{wrong: 1}}, // nobody declares it
	} {
		var got row
		if why := got.add(tt.truth, tt.seen); got != tt.want || (why != "") != (tt.want.wrong > 0) {
			t.Errorf("%s as %s: %+v, want %+v (%s)", tt.truth.Outcome, tt.seen.Outcome, got, tt.want, why)
		}
	}
}
