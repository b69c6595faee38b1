package explore

import (
	"cmp"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Result is what an exploration has found: explored.json, with all that the plan has.
type Result struct {
	Plan Plan `json:"plan"`
	rundir.Found
	// Violations are the shortest of each class and outcome, those with the fewest faults first.
	Violations []Violation `json:"violations,omitempty"`
}

// Schedule is one order, to be performed again.
type Schedule struct {
	Plan  Plan   `json:"plan"`
	Moves []Move `json:"moves"`
	// Later says that everybody goes on after the moves, and time passes.
	Later bool `json:"later,omitempty"`
}

// Violation is an order that broke the lock, with what becomes its run.
type Violation struct {
	Schedule
	rundir.ExploredOrder
	Events history.Events  `json:"events,omitempty"`
	Result *checker.Result `json:"result,omitempty"`
	// Marks are how many of the events there were before each of the moves, and after the last.
	Marks []int `json:"marks,omitempty"`
}

func newResult(p Plan) *Result {
	return &Result{Plan: p, Found: rundir.Found{Schema: history.Schema, Within: p.Within(), Came: map[string]int{}, Worst: map[string]lb.Outcome{}}}
}

// classOf is what went wrong in an order.
func classOf(moves []Move) rundir.Class {
	n := map[Kind]int{}
	for _, m := range moves {
		n[m.Do]++
	}
	class := rundir.Class{}
	for _, w := range wrongs {
		if n[w.do] > 0 {
			class = append(class, rundir.Wrong{What: w.what, Times: n[w.do]})
		}
	}
	return class
}

// sort is what a move is counted as, "" where nobody asks.
func (m Move) sort() string {
	switch {
	case m.What == renew, strings.HasPrefix(m.What, renewals):
		return "renewal"
	case m.What == tryAgain, m.Do == Wakes:
		return "try after the first"
	}
	if i := slices.IndexFunc(wrongs, func(w wrong) bool { return w.do == m.Do }); i >= 0 {
		return wrongs[i].what
	}
	return ""
}

// counted adds what came up in an order, and says what is still missing.
func (r *Result) counted(moves []Move) {
	for _, m := range moves {
		if s := m.sort(); s != "" {
			r.Came[s]++
		}
	}
	b := r.Plan.Bounds
	r.Never = nil
	never := func(most int, sort string) {
		if most > 0 && r.Came[sort] == 0 {
			r.Never = append(r.Never, sort)
		}
	}
	never(b.Polls, "try after the first")
	never(b.Renewals, "renewal")
	for _, w := range wrongs {
		never(min(b.Faults, w.most(b)), w.what)
	}
}

func (r *Result) count(moves []Move, res checker.Result) {
	r.counted(moves)
	c := r.of(classOf(moves))
	c.Orders++
	c.Outcomes[res.Outcome]++
}

// of are the orders of a class.
func (r *Result) of(class rundir.Class) *rundir.ExploredClass {
	for _, c := range r.Classes {
		if slices.Equal(c.Class, class) {
			return c
		}
	}
	c := &rundir.ExploredClass{Class: class, Outcomes: map[lb.Outcome]int{}}
	r.Classes = append(r.Classes, c)
	return c
}

// candidates are the orders that are kept of each class and outcome: the shortest may be one that does
// not do so again.
const candidates = 3

// keep keeps the shortest violations of each class and outcome.
func (r *Result) keep(v Violation) {
	v.Class = classOf(v.Moves)
	r.Violations = append(r.Violations, v)
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return shorter(a.Moves, b.Moves) })
	n := 0
	r.Violations = slices.DeleteFunc(r.Violations, func(old Violation) bool {
		if v.like(old) {
			n++
		}
		return v.like(old) && n > candidates
	})
}

// shown notes that an order did so again.
func (r *Result) shown(v Violation) {
	c := r.of(v.Class)
	c.Again = append(c.Again, v.Outcome)
}

// like reports whether the two are of one class and outcome.
func (v Violation) like(o Violation) bool {
	return slices.Equal(v.Class, o.Class) && v.Outcome == o.Outcome
}

// shorter: fewer faults, fewer moves, fewer switches between clients.
func shorter(a, b []Move) int {
	return cmp.Or(cmp.Compare(faults(a), faults(b)), cmp.Compare(len(a), len(b)), cmp.Compare(switches(a), switches(b)))
}

func switches(moves []Move) (n int) {
	for i := range moves {
		if i > 0 && moves[i].Client != moves[i-1].Client {
			n++
		}
	}
	return n
}
