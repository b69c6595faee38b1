package checker

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// badness orders outcomes from harmless to worst for merging runs. A run that
// proved nothing weighs more than one that was safe.
var badness = []lockbench.Outcome{lockbench.NotAvailable, lockbench.Safe, lockbench.Inconclusive,
	lockbench.Check, lockbench.Fence, lockbench.Stuck, lockbench.Broken}

// Decisive is the index of the run that determines the cell: the first with the worst
// outcome, and of those rather one that breaks the algorithm's promise. It is -1 if
// there are no runs.
func Decisive(runs []lockbench.RunResult, info lockbench.Info) int {
	decisive, level := -1, -1
	for i, r := range runs {
		n := 2 * slices.Index(badness, r.Outcome)
		if e := info.Expected(r.Plan.Fault); e != nil && !agrees(e, r) {
			n++
		}
		if n > level {
			decisive, level = i, n
		}
	}
	return decisive
}

// Cell merges the runs of one algorithm under one fault. The outcome, reason,
// effect and seed are those of the run that [Decisive] names. The promise is kept if
// that run keeps it, and every other that was hurt: a hazard that is known need not
// show in every run, but no other may. Dir is left to the caller, who knows where
// that run lies.
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
	i := Decisive(runs, info)
	if i < 0 {
		return c
	}
	r := runs[i]
	c.Fault, c.Outcome, c.Reason, c.Effect, c.Seed = r.Plan.Fault, r.Outcome, r.Reason, r.Effect.Measured, r.Plan.Seed
	if c.Algorithm == "" {
		c.Algorithm = r.Plan.Algorithm
	}
	if e := info.Expected(c.Fault); e != nil {
		c.Promise, c.Expected = promise(e, runs, i), explain(e)
	}
	return c
}

// promise says whether the runs kept what was declared. A cell that proved nothing
// neither keeps nor breaks a promise, unless a run of it was hurt.
func promise(e *lockbench.Expectation, runs []lockbench.RunResult, decisive int) string {
	for i, r := range runs {
		if (harmed(r) || i == decisive && r.Outcome != lockbench.Inconclusive) && !agrees(e, r) {
			return lockbench.PromiseBroken
		}
	}
	if runs[decisive].Outcome == lockbench.Inconclusive {
		return lockbench.PromiseOpen
	}
	return lockbench.PromiseKept
}

// harmed reports whether a copy was hurt, a grant was illegal or the lock stuck. A
// run may show that and be inconclusive all the same.
func harmed(r lockbench.RunResult) bool {
	switch r.Outcome {
	case lockbench.Check, lockbench.Fence, lockbench.Broken, lockbench.Stuck:
		return true
	}
	for _, l := range r.Layers {
		switch l.Name {
		case LayerGrant, LayerBelief, LayerStore, LayerProgress:
			if l.Verdict == lockbench.Invalid {
				return true
			}
		}
	}
	return false
}

// agrees reports whether one run is what the algorithm declares.
func agrees(e *lockbench.Expectation, r lockbench.RunResult) bool {
	return slices.Contains(e.Outcomes, r.Outcome) && strings.HasPrefix(r.Reason, e.Reason)
}

func sum(a, b lockbench.Copy) lockbench.Copy {
	return lockbench.Copy{Writes: a.Writes + b.Writes, Lost: a.Lost + b.Lost, Stale: a.Stale + b.Stale,
		Refused: a.Refused + b.Refused, Skipped: a.Skipped + b.Skipped}
}

// explain writes an expectation as a sentence.
func explain(e *lockbench.Expectation) string {
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
