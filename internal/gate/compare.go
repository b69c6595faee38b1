package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/stat"
)

// Trend is which way a cell went, or a figure.
type Trend string

// The trends, those first that matter most.
const (
	Worse  Trend = "worse"
	Lost   Trend = "lost" // it was decided, and is no more
	Gone   Trend = "gone"
	Other  Trend = "changed"
	Better Trend = "better"
	New    Trend = "new"
	// Of a figure: nothing can be told; no change is shown, and there may be one that
	// counts; there is none.
	Unsure  Trend = "undecided"
	Unclear Trend = "unclear"
	Same    Trend = "same"
)

var trends = []Trend{Worse, Lost, Gone, Other, Better, New}

// FigureTrends are those of figures, in the same order.
var FigureTrends = []Trend{Worse, Unsure, Gone, Other, Better, New, Unclear, Same}

// Change is a cell that is not what it was. Base or Head is nil where it was not there.
type Change struct {
	Algorithm string   `json:"algorithm"`
	Fault     string   `json:"fault"`
	Trend     Trend    `json:"trend"`
	What      []string `json:"what"`
	// Chance is how likely it is that so many runs came out as badly by chance alone, see [stat.Chance]; nil where
	// that is not what changed, or one side has no run that proves anything.
	Chance *float64      `json:"chance,omitempty"`
	Base   *checker.Cell `json:"base,omitempty"`
	Head   *checker.Cell `json:"head,omitempty"`
}

// Compare says which cells differ in their outcome, mechanism or promise, or in how many runs had that outcome where
// this is more than chance, and which are new or gone, the worst first. How long things took it does not compare.
func Compare(base, head []checker.Cell) []Change {
	changes := []Change{} // an empty list in JSON, too
	type key struct{ algorithm, fault string }
	at := func(cells []checker.Cell, k key) *checker.Cell {
		i := slices.IndexFunc(cells, func(c checker.Cell) bool { return k == key{c.Row(), c.Fault} })
		if i < 0 {
			return nil
		}
		return &cells[i]
	}
	// Of cells that are all the same, however many there are, one comparison in twenty may name some for nothing.
	least := 0.05 / float64(max(1, len(base)))
	for _, c := range base {
		ch, differs := compare(&c, at(head, key{c.Row(), c.Fault}))
		if counts := ch.count(least); counts || differs {
			changes = append(changes, ch)
		}
	}
	for _, c := range head {
		if at(base, key{c.Row(), c.Fault}) == nil {
			changes = append(changes, Change{Algorithm: c.Row(), Fault: c.Fault, Trend: New, What: []string{tellCell(&c)}, Head: &c})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(trends, a.Trend), slices.Index(trends, b.Trend))
	})
	return changes
}

func compare(base, head *checker.Cell) (ch Change, differs bool) {
	ch = Change{Algorithm: base.Row(), Fault: base.Fault, Base: base, Head: head}
	if head == nil {
		ch.Trend, ch.What = Gone, []string{tellCell(base)}
		return ch, true
	}
	if rundir.IsPending(base) && rundir.IsPending(head) {
		return ch, false
	}
	if rundir.IsPending(base) { // what it was, nobody knows
		ch.Trend, ch.What = New, []string{fmt.Sprintf("%s → %s", base.Reason, tellCell(head))}
		return ch, true
	}
	steps := []int{}
	if base.Outcome != head.Outcome {
		ch.What = append(ch.What, fmt.Sprintf("%s → %s", base.Outcome, toldOutcome(head)))
		if a, b := slices.Index(promised, base.Outcome), slices.Index(promised, head.Outcome); a >= 0 && b >= 0 {
			steps = append(steps, b-a)
		}
	}
	if a, b := base.Mechanism, head.Mechanism; a != b {
		ch.What = append(ch.What, fmt.Sprintf("%s → %s", orNone(a), orNone(b)))
		if base.Outcome.Decided() && head.Outcome.Decided() {
			// The lock itself broke, where it had only been outlived, or the other way round.
			steps = append(steps, breaks(b)-breaks(a))
		}
	}
	if base.Promise != head.Promise {
		ch.What = append(ch.What, fmt.Sprintf("promise %s → %s", orNone(base.Promise), orNone(head.Promise)))
		steps = append(steps, promiseBroke(head)-promiseBroke(base))
	}
	if ch.Trend = Other; len(ch.What) == 0 {
		return ch, false
	}
	switch {
	case slices.ContainsFunc(steps, func(n int) bool { return n > 0 }):
		ch.Trend = Worse
	case base.Outcome.Decided() && !head.Outcome.Decided():
		ch.Trend = Lost
	case slices.ContainsFunc(steps, func(n int) bool { return n < 0 }):
		ch.Trend = Better
	}
	return ch, true
}

func toldOutcome(c *checker.Cell) string {
	if rundir.IsPending(c) {
		return c.Reason
	}
	return string(c.Outcome)
}

// Comparable reports whether there is a cell of which both have proved something.
func Comparable(base, head []checker.Cell) bool {
	return slices.ContainsFunc(base, func(b checker.Cell) bool {
		return b.Outcome.Decided() && slices.ContainsFunc(head, func(h checker.Cell) bool {
			return h.Outcome.Decided() && h.Row() == b.Row() && h.Fault == b.Fault
		})
	})
}

// count says how many runs of both sides came out as the worse of them did, or worse still, and what of that chance
// would do, where that is what changed: it reports whether chance is less likely than least.
func (ch *Change) count(least float64) bool {
	if ch.Head == nil {
		return false
	}
	worst := max(slices.Index(promised, ch.Base.Outcome), slices.Index(promised, ch.Head.Outcome))
	if worst <= 0 { // nobody was hurt on either side
		return false
	}
	a, n := came(ch.Base, worst)
	b, m := came(ch.Head, worst)
	p := stat.Chance(a, n, b, m)
	if n == 0 || m == 0 || ch.Base.Outcome == ch.Head.Outcome && p >= least {
		return false
	}
	what := string(promised[worst])
	if worst < len(promised)-1 {
		what += " or worse"
	}
	ch.Chance = &p
	ch.What = append(ch.What, fmt.Sprintf("%s in %d of %s → %d of %d; if nothing had changed, so large a difference would come in %s of cases",
		what, a, english.Count(n, "run"), b, m, often(p)))
	return p < least
}

// came is how many of the cell's runs that proved something had at least this outcome, by its place in [promised].
func came(c *checker.Cell, least int) (n, of int) {
	for i, o := range promised {
		if of += c.Outcomes[o]; i >= least {
			n += c.Outcomes[o]
		}
	}
	return n, of
}

// often is a probability in percent, with three digits.
func often(p float64) string {
	if p < 0.0001 {
		return "less than 0.01%"
	}
	return strconv.FormatFloat(100*p, 'g', 3, 64) + "%"
}

func breaks(mechanism string) int {
	if mechanism == lb.DoubleGrant || mechanism == lb.VanishedGrant {
		return 1
	}
	return 0
}

func promiseBroke(c *checker.Cell) int {
	if c.Promise == checker.PromiseBroken {
		return 1
	}
	return 0
}

func tellCell(c *checker.Cell) string {
	if m := c.Mechanism; m != "" {
		return string(c.Outcome) + ", " + m
	}
	return string(c.Outcome)
}

func orNone(s string) string { return cmp.Or(s, "none") }
