package checker

import (
	"path"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// badness orders outcomes from harmless to worst for merging runs. A run that
// proved nothing weighs more than one that was safe.
var badness = []lockbench.Outcome{lockbench.NotAvailable, lockbench.Safe, lockbench.Inconclusive,
	lockbench.Check, lockbench.Fence, lockbench.Stuck, lockbench.Broken}

// Worst is the index of the first run with the worst outcome: the run that
// determines the cell. It is -1 if there are no runs.
func Worst(runs []lockbench.RunResult) int {
	worst, level := -1, -2
	for i, r := range runs {
		if n := slices.Index(badness, r.Outcome); n > level {
			worst, level = i, n
		}
	}
	return worst
}

// Cell merges the runs of one algorithm under one fault. The outcome, reason,
// effect and seed are those of the run that [Worst] names. Dir is left to the
// caller, who knows where that run lies.
func Cell(runs []lockbench.RunResult, info lockbench.Info) lockbench.Cell {
	c := lockbench.Cell{Algorithm: info.Name, Outcome: lockbench.NotAvailable, Runs: len(runs),
		Copies: map[string]lockbench.Copy{}, FirstViolationMS: -1}
	for _, r := range runs {
		if harmed(r) {
			c.Violations++
		}
		c.Sections += r.Sections
		c.OutageMS = max(c.OutageMS, r.OutageMS)
		if f := r.FirstViolationMS; f >= 0 && (c.FirstViolationMS < 0 || f < c.FirstViolationMS) {
			c.FirstViolationMS = f
		}
		for name, copied := range r.Copies {
			c.Copies[name] = sum(c.Copies[name], copied)
		}
	}
	if i := Worst(runs); i >= 0 {
		r := runs[i]
		c.Fault, c.Outcome, c.Reason, c.Effect, c.Seed = r.Plan.Fault, r.Outcome, r.Reason, r.Effect.Measured, r.Plan.Seed
		if c.Algorithm == "" {
			c.Algorithm = r.Plan.Algorithm
		}
	}
	return Judge(c, info)
}

// harmed reports whether a copy was hurt, a grant was illegal or the lock stuck.
func harmed(r lockbench.RunResult) bool {
	switch r.Outcome {
	case lockbench.Check, lockbench.Fence, lockbench.Broken, lockbench.Stuck:
		return true
	}
	return false
}

func sum(a, b lockbench.Copy) lockbench.Copy {
	return lockbench.Copy{Writes: a.Writes + b.Writes, Lost: a.Lost + b.Lost, Stale: a.Stale + b.Stale,
		Refused: a.Refused + b.Refused, Skipped: a.Skipped + b.Skipped}
}

// Judge compares a cell with what the algorithm declares and returns it with
// Promise and Expected set. Of several expectations that match the fault, the one
// that names it exactly counts, else the first glob.
func Judge(c lockbench.Cell, info lockbench.Info) lockbench.Cell {
	c.Promise, c.Expected = "", ""
	e, ok := expectation(info.Expect, c.Fault)
	if !ok {
		return c
	}
	c.Promise = "broken"
	if slices.Contains(e.Outcomes, c.Outcome) && strings.HasPrefix(c.Reason, e.Reason) {
		c.Promise = "kept"
	}
	c.Expected = explain(e)
	return c
}

func expectation(all []lockbench.Expectation, fault string) (found lockbench.Expectation, ok bool) {
	for _, e := range all {
		if e.Fault == fault {
			return e, true
		}
		if match, err := path.Match(e.Fault, fault); err == nil && match && !ok {
			found, ok = e, true
		}
	}
	return found, ok
}

// explain writes an expectation as a sentence.
func explain(e lockbench.Expectation) string {
	var names []string
	for _, o := range e.Outcomes {
		names = append(names, string(o))
	}
	s := strings.Join(names, " or ")
	if e.Reason != "" {
		s += " by " + e.Reason
	}
	if e.Why != "" {
		s += ": " + e.Why
	}
	if e.Source != "" {
		s += " (" + e.Source + ")"
	}
	return s
}
