package checker

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

// Decisive is the index of the run that determines the cell: the first with the worst
// outcome, and of those rather one that breaks the algorithm's promise. Runs that proved
// nothing weigh more than those that were safe if they are more than half, and one that saw harm does always. It is -1 if
// there are no runs.
func Decisive(runs []Result, info lb.Info) int {
	decisive, level, few := -1, -1, 2*inconclusive(runs) > len(runs)
	for i, r := range runs {
		n := 2 * r.Outcome.Gravity()
		if r.Outcome == lb.Inconclusive && !few && !harmed(r) {
			n = 0
		}
		if e := info.Expected(r.Plan.Fault); e != nil && !agrees(e, r) {
			n++
		}
		if n > level {
			decisive, level = i, n
		}
	}
	return decisive
}

// Merge makes one cell of the runs of one algorithm under one fault. The outcome, reason,
// effect and seed are those of the run that [Decisive] names. The promise is kept if
// that run keeps it, and every other that was hurt: a hazard that is known need not
// show in every run, but no other may. Runs that proved nothing are counted, and decide
// only if they are more than half and none of the others was hurt. Dir is left to the
// caller, who knows where that run lies.
func Merge(runs []Result, info lb.Info) Cell {
	c := Cell{Algorithm: info.Name, Outcome: lb.NotAvailable, Runs: len(runs),
		Copies: map[string]Copy{}, FirstViolationMS: -1}
	for _, r := range runs {
		if harmed(r) {
			c.Violations++
		}
		if r.Failed {
			c.Failed++
		}
		c.Sections += r.Sections
		c.TookMS += r.TookMS
		c.StalledMS = max(c.StalledMS, r.StalledMS)
		c.ClockErrorMS = max(c.ClockErrorMS, r.ClockErrorMS)
		if r.IfEven != "" {
			c.IfEven++
		}
		if c.OutageMS = max(c.OutageMS, r.OutageMS); r.OutageMS == c.OutageMS {
			c.Outage = r.Outage
		}
		for _, claim := range r.Claims {
			if !slices.ContainsFunc(c.Claims, func(u Unkept) bool { return u.Claim == claim.Claim }) {
				c.Claims = append(c.Claims, claim)
			}
		}
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
	c.Share, c.Outcomes = shareOf(runs), map[lb.Outcome]int{}
	for _, one := range runs {
		c.Outcomes[one.Outcome]++
	}
	if c.Inconclusive = inconclusive(runs); c.Inconclusive > 0 && r.Outcome == lb.Safe {
		r.Reason = strings.TrimSuffix(fmt.Sprintf("%s in %s, %d proved nothing; %s", r.Outcome, english.Count(len(runs)-c.Inconclusive, "run"), c.Inconclusive, r.Reason), "; ")
	}
	c.Fault, c.Outcome, c.Mechanism, c.Reason, c.Effect, c.Seed = r.Plan.Fault, r.Outcome, r.Mechanism, r.Reason, r.Effect.Measured, r.Plan.Seed
	if r.Plan.About != nil {
		c.Group, c.Family = r.Plan.About.Group, r.Plan.About.Family
	}
	c.Unproven = c.Fault != "none" && !slices.ContainsFunc(runs, func(r Result) bool { return r.Effect.Proven })
	if c.Algorithm == "" {
		c.Algorithm = r.Plan.Algorithm
	}
	if e := info.Expected(c.Fault); e != nil {
		c.Promise, c.Expected = promise(e, runs, i), explain(e)
	}
	return c
}

// inconclusive counts the runs that proved nothing.
func inconclusive(runs []Result) (n int) {
	for _, r := range runs {
		if r.Outcome == lb.Inconclusive {
			n++
		}
	}
	return n
}

// promise says whether the runs kept what was declared. A cell that proved nothing
// neither keeps nor breaks a promise, unless a run of it was hurt in a way that is not declared.
func promise(e *lb.Expectation, runs []Result, decisive int) string {
	for i, r := range runs {
		if r.Outcome == lb.Inconclusive {
			if harmed(r) && !foreseen(e, r) {
				return PromiseBroken
			}
			continue
		}
		if (harmed(r) || i == decisive) && !agrees(e, r) && !untried(e, r) {
			return PromiseBroken
		}
	}
	if !agrees(e, runs[decisive]) {
		return PromiseOpen
	}
	return PromiseKept
}

// foreseen reports whether harm is declared that is as grave as what a run has shown that proves nothing: what it
// would have come to is not known, and so no mechanism is asked of it.
func foreseen(e *lb.Expectation, r Result) bool {
	seen := lb.Check
	invalid := func(name string) bool {
		return slices.ContainsFunc(r.Layers, func(l Layer) bool { return l.Name == name && l.Verdict == Invalid })
	}
	switch {
	case invalid(LayerProgress):
		seen = lb.Stuck
	case r.Copies[CopyChecked].Hurt(), !r.Plan.Guarded && (invalid(LayerGrant) || invalid(LayerBelief)):
		seen = lb.Fence
	}
	return slices.ContainsFunc(e.Outcomes, func(o lb.Outcome) bool { return o.Gravity() >= seen.Gravity() })
}

// untried reports whether a run says nothing of a hazard that is declared: its fault had no effect, and
// it went better than declared.
func untried(e *lb.Expectation, r Result) bool {
	better := !slices.ContainsFunc(e.Outcomes, func(o lb.Outcome) bool {
		return o.Gravity() <= r.Outcome.Gravity()
	})
	return better && !r.Effect.Proven && r.Plan.Fault != "none"
}

// harmed reports whether a copy was hurt, a grant was illegal or the lock stuck. A
// run may show that and be inconclusive all the same, but not where a starved machine did
// the harm.
func harmed(r Result) bool {
	if r.Outcome.Hurtful() {
		return true
	}
	if r.Starved != "" {
		return false
	}
	for _, l := range r.Layers {
		switch l.Name {
		case LayerGrant, LayerBelief, LayerStore, LayerProgress, LayerWorkload:
			spared := r.Plan.Guarded && (l.Name == LayerGrant || l.Name == LayerBelief)
			if l.Verdict == Invalid && !spared {
				return true
			}
		}
	}
	return false
}

// agrees reports whether one run is what the algorithm declares. Where nobody was hurt, nothing
// has a mechanism. A grant that vanished is the double grant that was declared: whether somebody else is
// granted what a holder has lost, before the holder looks, is chance.
func agrees(e *lb.Expectation, r Result) bool {
	how := e.Reason == "" || r.Mechanism == e.Reason || !r.Outcome.Hurtful() ||
		e.Reason == lb.DoubleGrant && r.Mechanism == lb.VanishedGrant
	return how && slices.Contains(e.Outcomes, r.Outcome)
}

func sum(a, b Copy) Copy {
	return Copy{Writes: a.Writes + b.Writes, Lost: a.Lost + b.Lost, Stale: a.Stale + b.Stale, Crowded: a.Crowded + b.Crowded,
		Refused: a.Refused + b.Refused, Skipped: a.Skipped + b.Skipped}
}

// explain writes an expectation as a sentence.
func explain(e *lb.Expectation) string {
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
