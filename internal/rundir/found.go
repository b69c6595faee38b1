package rundir

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// MostAstray are the orders of a level that may go astray, each of them several times, before it is
// given up: there is more wrong with it than chance.
const MostAstray = 50

// Explored is explored.json, for who reads it. Who explores has more of the plan, and of each order, than
// others need: its own structs have these in them, so that each field of the file stands in one place.
type Explored struct {
	Dir  string       `json:"-"`
	Plan ExploredLock `json:"plan"`
	Found
	// Violations are the shortest of each class and outcome, those with the fewest faults first.
	Violations []ExploredOrder `json:"violations"`
}

// ExploredLock is the part of the plan that says what was explored.
type ExploredLock struct {
	Algorithm string        `json:"algorithm"`
	Exec      *history.Exec `json:"exec,omitempty"` // nil for a lock of the list
	Topology  string        `json:"topology"`
	// Reuse has programs live on from order to order, as long as nothing goes wrong with them: they start
	// slowly. What they keep is then not walked.
	Reuse bool `json:"reuse,omitempty"`
}

// Found is what was walked, and what came of it.
type Found struct {
	Schema int `json:"schema"`
	// Within are the bounds in words, for readers without this program.
	Within  string  `json:"within"`
	Seconds float64 `json:"seconds"`
	// Performed are the orders that it took, with those that turned out to be known.
	Performed int              `json:"performed"`
	Levels    []*ExploredLevel `json:"levels"`
	Classes   []*ExploredClass `json:"classes"`
	// Came counts the moves that came up in all these orders, by what they are.
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
}

// ExploredLevel are the orders with so many faults.
type ExploredLevel struct {
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

// Strayed reports whether its walk was given up since too many orders did not go as planned. One that the budget ends is
// followed by orders that are drawn.
func (l *ExploredLevel) Strayed() bool { return l.Astray > MostAstray && l.Drawn == 0 }

// String is what the log of a test has of it.
func (l *ExploredLevel) String() string {
	return fmt.Sprintf("%s: %s", english.Count(l.Faults, "fault"), english.Count(l.Orders, "order"))
}

// ExploredClass are the orders in which the same went wrong.
type ExploredClass struct {
	Class    Class              `json:"class"`
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

// ExploredOrder is one that broke the lock.
type ExploredOrder struct {
	Class   Class      `json:"class"`
	Outcome lb.Outcome `json:"outcome"`
	// Mechanism is how it broke it, "" where nothing says how; Reason tells it in a sentence.
	Mechanism string `json:"mechanism,omitempty"`
	Reason    string `json:"reason"`
	// Undeclared: the lock does not declare that.
	Undeclared bool `json:"undeclared,omitempty"`
	// Story tells it to people, a line a move; Dir is where the run lies that it is, below
	// explored.json, with slashes.
	Story []string `json:"story,omitempty"`
	Dir   string   `json:"dir,omitempty"`
}

// Orders are all that were walked.
func (f *Found) Orders() (n int) {
	for _, l := range f.Levels {
		n += l.Orders
	}
	return n
}
