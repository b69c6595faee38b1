package reports

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
)

// lockView is the part of the page that is about one algorithm.
type lockView struct {
	Name  string
	About history.About
	// Worst is its standing, nil for one of which nothing was proven.
	Worst  *standing
	Counts []count
	// Steps are the requests of its protocol.
	Steps  []protocolStep
	Traits []trait
	Price  []fact
	// Fencing says how to fence with it.
	Fencing string
	// Orders is what became of every order of a few clients, nil where nobody has explored that.
	Orders  *ordersView
	Cells   []lockCell
	Details []detail
}

// lockCell is one of its cells that had a run.
type lockCell struct {
	*checker.Cell
	// Explained: it has a detail of its own.
	Explained bool
	// Notes are what a reader should know about the recording itself.
	Notes []string
	Files []link
}

type protocolStep struct {
	Request string
	Takes   bool
}

// trait is what an algorithm claims to be, and what became of that.
type trait struct {
	Name, Meaning string
	Claimed       bool
	// Broken says where it was not kept.
	Broken string
}

// traits explains [lb.Traits]. The layer is that of the check which holds a run to it;
// the conformance suite holds the lock to all.
var traits = []struct {
	name, layer, meaning string
	of                   func(lb.Traits) bool
}{
	{"fenced", "fenced", "every grant carries a token greater than all before", func(t lb.Traits) bool { return t.Fenced }},
	{"leased", checker.LayerLeased, "a grant ends by itself after a time, and the client knows when", func(t lb.Traits) bool { return t.Leased }},
	{"renewing", "", "the lease is renewed while it is held", func(t lb.Traits) bool { return t.Renewing }},
	{"told", checker.LayerTold, "a holder is told when it has lost the lock", func(t lb.Traits) bool { return t.LostNotice }},
	{"fair", checker.LayerFair, "granted in the order of arrival", func(t lb.Traits) bool { return t.Fair }},
	{"push", "", "waiters are woken by the server; else they poll", func(t lb.Traits) bool { return t.Push }},
	{"reentrant", "", "the client that holds it may acquire it again", func(t lb.Traits) bool { return t.Reentrant }},
	{"shared", "", "has a shared mode", func(t lb.Traits) bool { return t.Shared }},
}

// newLockView is the part about one row. The plan is that of one of its runs.
func newLockView(g grid, row string, plan history.Plan, bench *cost.Bench) lockView {
	v := lockView{Name: row}
	if plan.About != nil {
		v.About = *plan.About
	}
	for _, r := range v.About.Requests {
		v.Steps = append(v.Steps, protocolStep{r, r == v.About.Takes})
	}
	if worst, r := g.rank(row); worst >= 0 {
		o := levels[worst].Outcome
		v.Worst = &standing{o, g.standingTitle(o), []rank{r}}
	}
	for _, t := range traits {
		v.Traits = append(v.Traits, trait{t.name, t.meaning, t.of(plan.Traits), unkept(g, row, t.layer)})
	}
	if row != controlLock && plan.Algorithm != "" {
		v.Fencing = fencing(plan, unkept(g, row, "fenced"))
	}
	if p := priceOf(bench, row); p.Known {
		for _, f := range []struct {
			name string
			amount
		}{{"Acquire and release, uncontended", p.Cycle}, {"Hand-off, median", p.HandOff}, {"Hand-off, 99%", p.Late}, {"Requests per grant", p.Requests}} {
			value := f.Text
			if f.Interval != "" {
				value += " (" + f.Interval + ")"
			}
			v.Price = append(v.Price, fact{Name: f.name, Value: value})
		}
	}
	return v
}

// Disclaimed are the traits that it does not claim.
func (v lockView) Disclaimed() (names []string) {
	for _, t := range v.Traits {
		if !t.Claimed {
			names = append(names, t.Name)
		}
	}
	return names
}

// violated is in how many of its runs a cell was hurt.
func violated(c *checker.Cell) string {
	if c.Share == nil {
		return fmt.Sprintf("%d of %d", c.Violations, c.Runs)
	}
	return fmt.Sprintf("%d of %d", c.Share.Broke, c.Share.Of)
}

// unkept names the faults under which a claim of the layer was not kept.
func unkept(g grid, row, layer string) string {
	if layer == "" {
		return ""
	}
	var where []string
	for _, col := range g.Cols {
		if c := g.At(row, col); c != nil && slices.ContainsFunc(c.Claims, func(u checker.Unkept) bool { return u.Claim == layer }) {
			where = append(where, col)
		}
	}
	return strings.Join(where, ", ")
}

// withoutToken is what helps where no token does.
const withoutToken = " What helps without one: work that may be done twice (an idempotency key, a write conditional on the version that was read), or another lock."

// fencing says how a store can refuse what comes late, with this lock; unkept are the faults under
// which its tokens were not what it claims, or "".
func fencing(p history.Plan, unkept string) string {
	switch {
	case p.Traits.Fenced && unkept != "":
		return "It claims a token with each grant, greater than all before, and that was not kept under " + unkept + ": no store can rely on it to tell a late writer from the holder." + withoutToken
	case p.Traits.Fenced && p.Statement != "":
		return "Each grant carries a token. Send it with every write, and write by the statement below (What refuses late writes)."
	case p.Traits.Fenced:
		return "Each grant carries a token, greater than all before. Send it with every write, and let the store refuse, in the same transaction, a token that is lower than the greatest it has seen: lockbench run --store redis, mysql, postgres or etcd shows and tries such statements."
	}
	return "It grants no token, so that no store can tell a late writer from the holder." + withoutToken
}

// Says is what stands in the list: the reason for harm, else what the fault did.
func (c lockCell) Says() string {
	if c.Reason != "" && (isHurt(c.Cell) || isUnclear(c.Cell)) {
		return c.Reason
	}
	return c.Effect
}

// anchorOfLock is the id of the part about a lock.
func anchorOfLock(name string) string { return fmt.Sprint("lock-", escaped(name)) }
