package main

import (
	"slices"
)

// verdict is what became of a statement.
type verdict string

const (
	confirmed verdict = "confirmed"
	refuted   verdict = "refuted"
	depends   verdict = "depends"
	undecided verdict = "undecided" // the outcome is there, and says neither
	missed    verdict = "missed"
	notRun    verdict = "not run yet"
)

// whole are those that leave no question.
var whole = []verdict{confirmed, refuted, depends}

// judgement is a verdict with the facts that it rests on.
type judgement struct {
	verdict verdict
	facts   []string
}

// judge computes the verdict of a statement from what its command gave, nil for nothing. It is
// undecided where two verdicts hold at once, or where none holds and something is unknown.
func judge(c claim, f *facts) judgement {
	switch {
	case c.Missing != "":
		return judgement{verdict: missed, facts: []string{c.Missing}}
	case c.Reading != "":
		return judgement{verdict: c.Reading, facts: []string{c.Because}}
	case f == nil:
		return judgement{verdict: notRun}
	}
	var (
		holds []verdict
		all   []string
		doubt bool
	)
	for _, b := range []struct {
		is   verdict
		when []condition
	}{{confirmed, c.Confirmed}, {refuted, c.Refuted}, {depends, c.Depends}} {
		if len(b.when) == 0 {
			continue
		}
		t := yes
		for _, one := range b.when {
			is, says := one.on(f)
			t = both(t, is)
			if !slices.Contains(all, says) {
				all = append(all, says)
			}
		}
		if t == yes {
			holds = append(holds, b.is)
		}
		doubt = doubt || t == unknown
	}
	j := judgement{verdict: undecided, facts: all}
	switch {
	case len(holds) == 1:
		j.verdict = holds[0]
	case len(holds) == 0 && !doubt && c.Otherwise != "":
		j.verdict = c.Otherwise
	}
	return j
}
