package gate

import (
	"cmp"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
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
	Algorithm string        `json:"algorithm"`
	Fault     string        `json:"fault"`
	Trend     Trend         `json:"trend"`
	What      []string      `json:"what"`
	Base      *checker.Cell `json:"base,omitempty"`
	Head      *checker.Cell `json:"head,omitempty"`
}

// Compare says which cells differ in their outcome, mechanism or promise, and which are
// new or gone, the worst first. How long things took it does not compare.
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
	for _, c := range base {
		if ch, differs := compare(&c, at(head, key{c.Row(), c.Fault})); differs {
			changes = append(changes, ch)
		}
	}
	for _, c := range head {
		if at(base, key{c.Row(), c.Fault}) == nil {
			changes = append(changes, Change{c.Row(), c.Fault, New, []string{tellCell(&c)}, nil, &c})
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
	steps := []int{}
	if base.Outcome != head.Outcome {
		ch.What = append(ch.What, fmt.Sprintf("%s → %s", base.Outcome, head.Outcome))
		if a, b := slices.Index(promised, base.Outcome), slices.Index(promised, head.Outcome); a >= 0 && b >= 0 {
			steps = append(steps, b-a)
		}
	}
	if a, b := base.Mechanism, head.Mechanism; a != b {
		ch.What = append(ch.What, fmt.Sprintf("%s → %s", orNone(a), orNone(b)))
		// The lock itself broke, where it had only been outlived, or the other way round.
		steps = append(steps, breaks(b)-breaks(a))
	}
	if base.Promise != head.Promise {
		ch.What = append(ch.What, fmt.Sprintf("promise %s → %s", orNone(base.Promise), orNone(head.Promise)))
		steps = append(steps, promiseBroke(head)-promiseBroke(base))
	}
	if len(ch.What) == 0 {
		return ch, false
	}
	switch {
	case slices.ContainsFunc(steps, func(n int) bool { return n > 0 }):
		ch.Trend = Worse
	case Decided(base.Outcome) && !Decided(head.Outcome):
		ch.Trend = Lost
	case slices.ContainsFunc(steps, func(n int) bool { return n < 0 }):
		ch.Trend = Better
	default:
		ch.Trend = Other
	}
	return ch, true
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
