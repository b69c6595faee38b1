package explore

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
)

// worst are the outcomes of orders, the gravest first.
var worst = lb.WorstFirst()

// likeIt are the faults under which a lock declares what is to be expected of orders in which this goes
// wrong, and the kinds of faults that do the same at a step: an order strikes at any.
func likeIt(what string, t lb.Traits) (faults, kinds []string) {
	i := slices.IndexFunc(wrongs, func(w wrong) bool { return w.what == what })
	if i < 0 {
		return nil, nil
	}
	l := wrongs[i].like
	if t.Session {
		return slices.Concat(l.sessions, l.faults), slices.Concat(l.sessionsAtSteps, l.atSteps)
	}
	return l.faults, l.atSteps
}

// promised is what the lock declares of a class of orders: of each thing that goes wrong in them by itself.
func promised(class rundir.Class, info lb.Info) (all []lb.Expectation) {
	if len(class) == 0 {
		return declaredOf([]string{"none"}, nil, info)
	}
	for _, w := range class {
		faults, kinds := likeIt(w.What, info.Traits)
		all = append(all, declaredOf(faults, kinds, info)...)
	}
	return all
}

// declaredOf is what the lock declares of these faults, and of these kinds at a step.
func declaredOf(faults, kinds []string, info lb.Info) (all []lb.Expectation) {
	named := map[string]bool{}
	for _, fault := range faults {
		if e := info.Expected(fault); e != nil && !named[e.Fault] { // one entry may be for several
			named[e.Fault] = true
			all = append(all, *e)
		}
	}
	for _, e := range info.Expect {
		kind, at, _ := strings.Cut(e.Fault, "@")
		// No order stops between the look at the lease and the write.
		late := at == "before-write" && kind != "kill"
		if slices.Contains(kinds, kind) && at != "" && !late {
			all = append(all, e)
		}
	}
	return all
}

// excused reports whether the lock declares that orders of the class come to the outcome. Who
// declares that two hold it needs not say that a fence sees them.
func excused(class rundir.Class, o lb.Outcome, info lb.Info) bool {
	return slices.ContainsFunc(promised(class, info), func(e lb.Expectation) bool {
		return slices.Contains(e.Outcomes, o) || o == lb.Fence && slices.Contains(e.Outcomes, lb.Broken)
	})
}

// Declare compares what came of the orders with what the lock declares under the fault that is most
// like what went wrong in them.
func (r *Result) Declare(info lb.Info) {
	for _, c := range r.Classes {
		declare(c, info)
	}
	for i := range r.Violations {
		v := &r.Violations[i]
		v.Undeclared = rundir.Breaks(v.Outcome) && !excused(v.Class, v.Outcome, info)
	}
}

func declare(c *rundir.ExploredClass, info lb.Info) {
	got := slices.IndexFunc(worst, func(o lb.Outcome) bool { return c.Outcomes[o] > 0 })
	var list []string
	declared := map[lb.Outcome]bool{}
	for _, e := range promised(c.Class, info) {
		var outcomes []string
		for _, o := range e.Outcomes {
			outcomes = append(outcomes, string(o))
			declared[o] = true
		}
		list = append(list, e.Fault+": "+strings.Join(outcomes, ", "))
	}
	if got < 0 || len(list) == 0 {
		return
	}
	says := notDeclared
	switch {
	case slices.ContainsFunc(worst, func(o lb.Outcome) bool { return c.Outcomes[o] > 0 && rundir.Breaks(o) && !excused(c.Class, o, info) }):
	case declared[worst[got]]:
		says = "as declared"
	case slices.ContainsFunc(worst[:got], func(o lb.Outcome) bool { return declared[o] }):
		says = "milder than declared"
	}
	c.Undeclared = says == notDeclared && !rundir.Breaks(worst[got])
	c.Declared = fmt.Sprintf("%s (%s)", says, strings.Join(list, "; "))
}

const notDeclared = "not declared"

// Broken are the orders that broke the lock.
func (r *Result) Broken() (n int) {
	for _, l := range r.Levels {
		n += l.Broken
	}
	return n
}

// Undeclared reports whether some order broke the lock in a way that it does not declare.
func (r *Result) Undeclared() bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Undeclared })
}
