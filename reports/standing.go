package reports

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
)

// standing is a group of algorithms that did equally well at their worst.
type standing struct {
	lb.Outcome
	Title string
	Locks []rank
}

// rank is one algorithm at its worst: all of the answer that its cells give.
type rank struct {
	Name string
	// Mechanisms in which it was hurt at its worst, those first that break the lock itself.
	Mechanisms []string
	// Faults under which it was at its worst, of so many that prove something.
	Faults []string
	Of     int
	// OutageMS is the longest time that nobody could get it, under the fault Outage; -1
	// for none.
	OutageMS float64
	Outage   string
	// Runs of the cells that prove something, the fewest, and how often SAFE could still
	// break with so few: see [checker.Cell.Open]. Empty unless all cells are SAFE.
	Open string
	// Unclear cells prove nothing.
	Unclear int

	worst lb.Outcome
	cells []*checker.Cell // that prove something
	hints []string        // faults under which harm was seen in a cell that proves nothing
}

var standingTitles = map[lb.Outcome]string{
	lb.Safe:   "Safe as it is, under everything tried that proved something",
	lb.Check:  "Safe if every write checks the lease first",
	lb.Fence:  "Safe only behind a store that checks fencing tokens",
	lb.Stuck:  "Can stay taken, so that nobody makes progress",
	lb.Broken: "Went wrong under some fault, whatever care was taken",
}

// safeSoFar stands for SAFE in a matrix that is not finished.
const safeSoFar = "Safe as it is in what was run, which is not all"

// levels are the outcomes that prove something, from best to worst.
var levels = outcomes[:5]

func levelOf(o lb.Outcome) int {
	return slices.IndexFunc(levels, func(k outcome) bool { return k.Outcome == o })
}

// controlLock grants to everybody: no candidate, but the proof that the bench sees harm.
const controlLock = "none"

// standings answers the page's question: which algorithm needs which care. Within
// a standing, those come first that were seldom at their worst. Cells that prove
// nothing neither help nor harm; an algorithm that has no other cell stands nowhere, and
// neither does the control.
func (g grid) standings() []standing {
	var out []standing
	for _, k := range levels {
		out = append(out, standing{Outcome: k.Outcome, Title: g.standingTitle(k.Outcome)})
	}
	for _, row := range g.Rows {
		if worst, lock := g.rank(row); worst >= 0 && row != controlLock {
			out[worst].Locks = append(out[worst].Locks, lock)
		}
	}
	for _, s := range out {
		slices.SortStableFunc(s.Locks, func(a, b rank) int { return len(a.Faults)*b.Of - len(b.Faults)*a.Of })
	}
	return slices.DeleteFunc(out, func(s standing) bool { return len(s.Locks) == 0 })
}

func (g grid) standingTitle(o lb.Outcome) string {
	if o == lb.Safe && g.unfinished() != "" {
		return safeSoFar
	}
	return standingTitles[o]
}

// rank is the row at its worst, with the index of that level, or -1.
func (g grid) rank(row string) (worst int, r rank) {
	worst, r = -1, rank{Name: row, OutageMS: -1}
	for _, col := range g.Cols {
		c := g.At(row, col)
		if c == nil {
			continue
		}
		level := levelOf(c.Outcome)
		if level < 0 {
			if isUnclear(c) {
				r.Unclear++
			}
			if isUnclear(c) && c.Violations > 0 {
				r.hints = append(r.hints, col)
			}
			continue
		}
		r.cells = append(r.cells, c)
		if level > worst {
			worst, r.Faults = level, nil
		}
		if level == worst {
			r.Faults = append(r.Faults, col)
		}
		if c.OutageMS > r.OutageMS {
			r.OutageMS, r.Outage = c.OutageMS, col
		}
	}
	r.Of = len(r.cells)
	for _, m := range mechanisms {
		if slices.ContainsFunc(r.cells, func(c *checker.Cell) bool { return levelOf(c.Outcome) == worst && c.Mechanism == m.Name }) {
			r.Mechanisms = append(r.Mechanisms, m.Name)
		}
	}
	if worst >= 0 {
		r.worst = levels[worst].Outcome
	}
	if worst == 0 {
		r.Open = slices.MaxFunc(r.cells, func(a, b *checker.Cell) int { return ofShare(b) - ofShare(a) }).Open()
	}
	return worst, r
}

func ofShare(c *checker.Cell) int {
	if c.Share == nil {
		return 0
	}
	return c.Share.Of
}

// Under names the faults of the worst, or says how many they are.
func (r rank) Under() string {
	switch calm, faults := r.under(); {
	case faults == "":
		return noFault
	case calm && len(r.Mechanisms) > 0:
		return noFault + ", " + faults
	default:
		return faults
	}
}

// under is [rank.Under] without what is no fault, and whether that is among them, too.
func (r rank) under() (calm bool, faults string) {
	of := r.Of
	if slices.ContainsFunc(r.cells, func(c *checker.Cell) bool { return c.Fault == noFault }) {
		of--
	}
	list := slices.DeleteFunc(slices.Clone(r.Faults), func(f string) bool { return f == noFault })
	calm = len(list) < len(r.Faults)
	switch {
	case len(list) == 0:
		return calm, ""
	case len(r.Mechanisms) == 0 && len(list) == of && r.Unclear == 0:
		return calm, "all " + english.Count(of, "fault")
	case len(r.Mechanisms) == 0 && len(list) == of:
		return calm, english.Count(of, "fault")
	case len(list) <= 2:
		return calm, strings.Join(list, ", ")
	}
	return calm, fmt.Sprintf("%d of %d faults", len(list), of)
}

// Unproven says how many cells prove nothing, and where harm was seen all the same; "" where there are none.
func (r rank) Unproven() string {
	if r.Unclear == 0 {
		return ""
	}
	s := english.Count(r.Unclear, "cell") + " without proof"
	if len(r.hints) > 0 {
		s += ", but harm was seen there under " + strings.Join(r.hints, ", ")
	}
	return s
}

// beyond are the cells of r that were worse than a user's care makes good.
func (r rank) beyond(care lb.Outcome) (list []*checker.Cell) {
	for _, c := range r.cells {
		if levelOf(c.Outcome) > levelOf(care) {
			list = append(list, c)
		}
	}
	return list
}

// control says what became of the lock that grants to everybody: where nobody is hurt
// under it, the bench could not have seen harm. "" where it was not run. Guarded work is
// right without any lock.
func (g grid) control(guarded bool) (says string, blind bool) {
	_, r := g.rank(controlLock)
	convicted := 0
	for _, c := range r.cells {
		if isHurt(c) {
			convicted++
		}
	}
	of := english.Count(r.Of, "cell")
	switch {
	case r.Of == 0 && r.Unclear == 0:
		return "", false
	case r.Of == 0:
		return fmt.Sprintf("The control, a lock that grants to everybody, proved nothing, in %s: whether the bench would have seen harm is not known.", english.Count(r.Unclear, "cell")), !guarded
	case guarded:
		return fmt.Sprintf("The control, a lock that grants to everybody, was convicted in %d of %s: the work of these runs is right without a lock.", convicted, of), false
	case convicted == r.Of:
		return fmt.Sprintf("The control, a lock that grants to everybody, was convicted in %d of %s: the bench sees harm where there is some.", convicted, of), false
	}
	return fmt.Sprintf("The control, a lock that grants to everybody, was convicted in only %d of %s. Where it was not, SAFE says little of any lock.", convicted, of), true
}
