package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

// advice says which lock to take in a situation. It is made of the cells alone.
type advice struct {
	// When is the reader's situation, and Care what it asks of the holder.
	When, Care string
	Locks      []advised
	// None says why no lock was weighed, "" where one was.
	None string
	// More is how many others would do, too.
	More int
}

// advised is a lock with what speaks for it and against it.
type advised struct {
	Name string
	// Says is what to expect of it, for whoever knows locks by their names only.
	Says string
	// But says under which faults even this care was not enough, with the mechanism.
	But string
	// Untried are the troubles that this lock was not seen in.
	Untried string
	// Costs tells of outage, hand-off and requests.
	Costs string
}

// undying says that of these locks little is known.
func undying(locks []string) string {
	return "A lock forgets when its server dies, and none is known to have died in the runs of " + strings.Join(locks, ", ") + "."
}

// sentence is the advice without what the page has beside it, of the locks for which this care was
// enough; "" where there is none.
func (a advice) sentence() string {
	var names []string
	for _, l := range a.Locks {
		switch {
		case l.But != "":
		case l.Untried != "":
			names = append(names, l.Name+" (not tried: "+l.Untried+")")
		default:
			names = append(names, l.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	s := a.When + ". " + a.Care + " The best first: " + strings.Join(names, ", ")
	if a.More > 0 {
		s += fmt.Sprintf("; the table has %d more", a.More)
	}
	return s + "."
}

// nothing is what is said where there is no such sentence.
func (a advice) nothing() string {
	return a.When + ". " + cmp.Or(a.None, "Also with such care something went wrong with each lock that was weighed.")
}

// ranking says how the locks of a situation are ordered, where it says nothing else.
func ranking(bench *cost.Bench) string {
	s := "a lock stands higher the smaller the share of its conclusive cells that went wrong in spite of the care, "
	if bench != nil {
		s += "then the shorter its median hand-off, "
	}
	return s + "then the shorter its longest outage"
}

// advisedLocks bounds the locks named in one situation.
const advisedLocks = 4

// advisor is what advice is made of, beside the cells.
type advisor struct {
	fenced func(lock string) bool // which grant tokens
	// tried are the troubles that a lock was seen in.
	tried func(lock string) []history.Trouble
	bench *cost.Bench
}

// advise ranks the locks for three situations: those come first that went wrong under the
// fewest faults in spite of the care, then those that cost less. The control is no candidate,
// and neither is a lock of which no server died: most of what locks forget they forget then.
// unknown are the locks that that leaves out.
func (a advisor) advise(g grid) (list []advice, unknown []string) {
	var ranks []rank
	for _, s := range g.standings() {
		ranks = append(ranks, s.Locks...)
	}
	if len(ranks) < 2 {
		return nil, nil
	}
	ranks = slices.DeleteFunc(ranks, func(r rank) bool {
		left := !slices.Contains(a.tried(r.Name), history.Failover)
		if left {
			unknown = append(unknown, r.Name)
		}
		return left
	})
	if len(ranks) == 0 {
		return nil, unknown
	}
	tokens := slices.DeleteFunc(slices.Clone(ranks), func(r rank) bool { return !a.fenced(r.Name) })
	compares := a.situation(tokens, lb.Fence, "The data is kept in a store that can compare a number",
		"The holder sends the grant’s fencing token with each write, and the store refuses a token lower than one that it has seen.")
	if len(tokens) == 0 {
		compares.None = a.tokenless(unknown)
	}
	list = []advice{
		a.situation(ranks, lb.Check, "The data is kept where nothing can refuse a write",
			"The holder looks at its lease right before each write, and does not write when it is over."),
		compares,
	}
	return append(list, a.soonest(append(best(ranks, lb.Check), best(tokens, lb.Fence)...))), unknown
}

// tokenless says why no lock with tokens was weighed.
func (a advisor) tokenless(unknown []string) string {
	left := slices.DeleteFunc(slices.Clone(unknown), func(lock string) bool { return !a.fenced(lock) })
	if len(left) == 0 {
		return "No lock that was weighed grants tokens."
	}
	return "No lock that was weighed grants tokens; of those left out, these do: " + strings.Join(left, ", ") + "."
}

// troubles are those of [history.Troubles] in the words of advice.
var troubles = map[history.Trouble]string{
	history.Failover: "the death of a server", history.Freeze: "a client that stands still", history.WrongTime: "a clock that errs",
	history.Partition: "a network that parts", history.Death: "the death of a client",
}

// untried names the troubles that the lock was not seen in.
func (a advisor) untried(lock string) string {
	var list []string
	for _, t := range history.Troubles() {
		if !slices.Contains(a.tried(lock), t) {
			list = append(list, troubles[t])
		}
	}
	return strings.Join(list, ", ")
}

// advised is what is said of the lock, with the cells that speak against it and what these say.
func (a advisor) advised(r rank, against string, cells []*checker.Cell) advised {
	but := ""
	if len(cells) > 0 {
		but = against + except(cells)
	}
	return advised{r.Name, r.plainly(), but, a.untried(r.Name), costs(r, a.bench)}
}

// best are the locks that went wrong in spite of the care under the fewest faults, or
// under one more.
func best(candidates []rank, care lb.Outcome) []rank {
	fewest := math.MaxInt
	for _, r := range candidates {
		fewest = min(fewest, len(r.beyond(care)))
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(r rank) bool { return len(r.beyond(care)) > fewest+1 })
}

// situation ranks the candidates by what went wrong although the holder took this care.
func (a advisor) situation(candidates []rank, care lb.Outcome, when, says string) advice {
	s := advice{When: when, Care: says}
	candidates = slices.Clone(candidates)
	slices.SortStableFunc(candidates, func(x, y rank) int {
		return cmp.Or(share(x, care)-share(y, care), cmp.Compare(handOff(a.bench, x.Name), handOff(a.bench, y.Name)), cmp.Compare(x.OutageMS, y.OutageMS))
	})
	for i, r := range candidates {
		against := r.beyond(care)
		if i < advisedLocks {
			s.Locks = append(s.Locks, a.advised(r, "such care is not enough under ", against))
		} else if len(against) == 0 {
			s.More++
		}
	}
	return s
}

// share is how many of 10,000 cells went wrong in spite of the care: some locks have more
// cells than others.
func share(r rank, care lb.Outcome) int { return len(r.beyond(care)) * 10_000 / max(1, r.Of) }

// soonest ranks locks, of which some may be named twice, by the longest time that nobody
// could get them.
func (a advisor) soonest(ranks []rank) advice {
	s := advice{When: "Of the best of these, the locks that recover fastest", Care: "By the longest outage under any fault: the time that clients asked and nobody got the lock."}
	slices.SortStableFunc(ranks, func(x, y rank) int {
		return cmp.Or(cmp.Compare(x.OutageMS, y.OutageMS), strings.Compare(x.Name, y.Name))
	})
	ranks = slices.CompactFunc(ranks, func(x, y rank) bool { return x.Name == y.Name })
	for _, r := range ranks[:min(len(ranks), advisedLocks)] {
		stuck := slices.DeleteFunc(slices.Clone(r.cells), func(c *checker.Cell) bool { return c.Outcome != lb.Stuck })
		s.Locks = append(s.Locks, a.advised(r, "whoever waited did not get it any more under ", stuck))
	}
	return s
}

// advised is what the cells say of which lock to take: a sentence for each, in which Name is of all
// of which it is true, and what is best in each situation. Of the unknown no server is known to
// have died. The plan of a cell's run is nil where it can't be read.
func (g grid) advised(plan func(*checker.Cell) *history.Plan) (locks []advised, best []advice, unknown []string) {
	fenced, tried, known := map[string]bool{}, map[string][]history.Trouble{}, false
	for _, row := range g.Rows {
		for _, c := range g.inRow(row, func(c *checker.Cell) bool { return !notRun(c) && c.Outcome != lb.NotAvailable }) {
			p := plan(c)
			if p == nil {
				continue
			}
			fenced[row], known = p.Traits.Fenced, true
			tried[row] = append(tried[row], seenIn(c, p)...)
		}
	}
	a := advisor{fenced: func(lock string) bool { return fenced[lock] }, tried: func(lock string) []history.Trouble { return tried[lock] }}
	n := 0
	for _, s := range g.standings() {
		for _, r := range s.Locks {
			n++
			if last := len(locks) - 1; last >= 0 && locks[last].Says == r.plainly() {
				locks[last].Name += ", " + r.Name
				continue
			}
			locks = append(locks, advised{Name: r.Name, Says: r.plainly()})
		}
	}
	switch {
	case n < 2:
		return nil, nil, nil
	case !known: // where the runs are not, nobody can tell what was tried
		return locks, nil, nil
	}
	best, unknown = a.advise(g)
	return locks, best[:min(2, len(best))], unknown // without what recovers fastest, which asks for more words
}

// seenIn are the troubles that the cell shows its lock in: none where it proves nothing, or no fault is known to
// have done anything.
func seenIn(c *checker.Cell, p *history.Plan) []history.Trouble {
	if p.About == nil || isUnclear(c) || c.Unproven {
		return nil
	}
	return p.About.Troubles
}

// planIn is the plan of the run in the cell's directory, which is as seen from here.
func planIn(c *checker.Cell) *history.Plan {
	if c.Dir == "" {
		return nil
	}
	r, err := rundir.OpenRun(c.Dir)
	if err != nil {
		return nil
	}
	return &r.Plan
}

// costs tells what is known of the lock's price.
func costs(r rank, bench *cost.Bench) string {
	var parts []string
	if r.OutageMS >= 0 {
		parts = append(parts, fmt.Sprintf("longest outage %s (%s)", span(r.OutageMS), r.Outage))
	}
	if p := priceOf(bench, r.Name); p.Known {
		parts = append(parts, "hand-off "+p.HandOff.Text+", "+p.Requests.Text+" requests per grant")
	}
	return strings.Join(parts, "; ")
}
