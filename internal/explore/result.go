package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Result is what an exploration has found: explored.json.
type Result struct {
	Schema int  `json:"schema"`
	Plan   Plan `json:"plan"`
	// Within are the bounds in words, for readers without this program.
	Within  string  `json:"within"`
	Seconds float64 `json:"seconds"`
	// Performed are the orders that it took, with those that turned out to be known.
	Performed int      `json:"performed"`
	Levels    []*Level `json:"levels"`
	Classes   []*Class `json:"classes"`
	// Came counts the moves that came up in all these orders, by what they are: see [Move.sort].
	Came map[string]int `json:"came,omitempty"`
	// Never are those that the bounds allow, and that never came up.
	Never []string `json:"never,omitempty"`
	// Timeless says why no lease could end.
	Timeless string `json:"timeless,omitempty"`
	// Interrupted: somebody ended it before its end. Violations are as they were found then.
	Interrupted bool `json:"interrupted,omitempty"`
	// GivenUp is why it was given up: too many orders in a row did not go as planned.
	GivenUp string `json:"given_up,omitempty"`
	// Ways are in how many ways these orders ended: what each client was answered and saw. Worst has them,
	// with the worst outcome of each, where nothing was left out.
	Ways  int                   `json:"ways,omitempty"`
	Worst map[string]lb.Outcome `json:"worst,omitempty"`
	// Digest is of these ways with their outcomes: which orders showed them may be chance.
	Digest string `json:"digest"`
	// Replays are what came of an order that was performed again.
	Replays map[lb.Outcome]int `json:"replays,omitempty"`
	// Doubts are orders that broke the lock, and did not do so again, or why one can't be performed.
	Doubts []string `json:"doubts,omitempty"`
	// Violations are the shortest of each class and outcome, those with the fewest faults first.
	Violations []Violation `json:"violations,omitempty"`
}

// Level are the orders with so many faults.
type Level struct {
	Faults int `json:"faults"`
	// Orders that were walked, and the share of all that they are.
	Orders int     `json:"orders"`
	Share  float64 `json:"share"`
	Broken int     `json:"broken"`
	// Sampled are the orders among them that were drawn, where there are too many to walk.
	Sampled int `json:"sampled,omitempty"`
	// Drawn are all that were drawn, also those that were known or had fewer faults; Shown is, by how many moves
	// something takes that come each before a certain other, the probability, at least, with which one has shown it.
	Drawn int             `json:"drawn,omitempty"`
	Shown map[int]float64 `json:"shown,omitempty"`
	// Met are orders beside these, which came to a moment that was walked on from before, and ended there; Moments
	// are how many moments that could be.
	Met     int `json:"met,omitempty"`
	Moments int `json:"moments,omitempty"`
	// Cut are those that ended because a client had sent more requests than one try, or its renewals,
	// may take.
	Cut int `json:"cut,omitempty"`
	// Astray are those that did not go as planned.
	Astray int `json:"astray"`
	// Why is how the first of them did.
	Why string `json:"why,omitempty"`
}

// Class are the orders in which the same went wrong.
type Class struct {
	// Name says what: "nothing", "1 crash".
	Name     string             `json:"name"`
	Orders   int                `json:"orders"`
	Outcomes map[lb.Outcome]int `json:"outcomes"`
	// Again are those of the outcomes that break the lock of which an order came to the same when it was
	// performed again.
	Again []lb.Outcome `json:"again,omitempty"`
	// Declared says how that compares with what the lock declares, "" where it declares nothing.
	Declared string `json:"declared,omitempty"`
	// Undeclared: none breaks the lock, and the worst that they came to is more than it declares.
	Undeclared bool `json:"undeclared,omitempty"`
}

// Schedule is one order, to be performed again.
type Schedule struct {
	Plan  Plan   `json:"plan"`
	Moves []Move `json:"moves"`
	// Later says that everybody goes on after the moves, and time passes.
	Later bool `json:"later,omitempty"`
}

// Violation is an order that broke the lock.
type Violation struct {
	Schedule
	Class   string     `json:"class"`
	Outcome lb.Outcome `json:"outcome"`
	Reason  string     `json:"reason"`
	// Undeclared: the lock does not declare that.
	Undeclared bool            `json:"undeclared,omitempty"`
	Events     history.Events  `json:"events,omitempty"`
	Result     *checker.Result `json:"result,omitempty"`
	// Marks are how many of the events there were before each of the moves, and after the last.
	Marks []int `json:"marks,omitempty"`
	// Story tells it to people, a line a move; Dir is where the run lies that it is, below
	// explored.json.
	Story []string `json:"story,omitempty"`
	Dir   string   `json:"dir,omitempty"`
}

func newResult(p Plan) *Result {
	return &Result{Schema: history.Schema, Plan: p, Within: p.Within(), Came: map[string]int{}, Worst: map[string]lb.Outcome{}}
}

// class is what went wrong in an order.
func class(moves []Move) string {
	n := map[Kind]int{}
	for _, m := range moves {
		n[m.Do]++
	}
	var of []string
	for _, w := range wrongs {
		if n[w.do] > 0 {
			of = append(of, english.Count(n[w.do], w.what))
		}
	}
	return cmp.Or(strings.Join(of, " and "), "nothing")
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
	name := class(moves)
	i := slices.IndexFunc(r.Classes, func(c *Class) bool { return c.Name == name })
	if i < 0 {
		r.Classes = append(r.Classes, &Class{Name: name, Outcomes: map[lb.Outcome]int{}})
		i = len(r.Classes) - 1
	}
	r.Classes[i].Orders++
	r.Classes[i].Outcomes[res.Outcome]++
}

// candidates are the orders that are kept of each class and outcome: the shortest may be one that does
// not do so again.
const candidates = 3

// keep keeps the shortest violations of each class and outcome.
func (r *Result) keep(v Violation) {
	v.Class = class(v.Moves)
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
	for _, c := range r.Classes {
		if c.Name == v.Class {
			c.Again = append(c.Again, v.Outcome)
		}
	}
}

// like reports whether the two are of one class and outcome.
func (v Violation) like(o Violation) bool { return v.Class == o.Class && v.Outcome == o.Outcome }

func (v Violation) mechanism() string {
	how, _, _ := strings.Cut(v.Reason, ":")
	return string(v.Outcome) + " " + how
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

// Orders are all that were walked.
func (r *Result) Orders() (n int) {
	for _, l := range r.Levels {
		n += l.Orders
	}
	return n
}

func (l Level) String() string {
	return fmt.Sprintf("%s: %s", english.Count(l.Faults, "fault"), english.Count(l.Orders, "order"))
}
