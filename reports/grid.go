package reports

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

type outcome struct {
	lb.Outcome
	Short   string // fits a cell
	Meaning string
}

// outcomes lists the cells' meanings from best to worst, in the order of every
// legend and count.
var outcomes = []outcome{
	{lb.Safe, "SAFE", "even writes made without another look at the lock were right"},
	{lb.Check, "CHECK", "safe if the holder checks its lease right before each write"},
	{lb.Fence, "FENCE", "safe only if the store refuses old fencing tokens"},
	{lb.Stuck, "STUCK", "whoever waited could not get the lock, for good or for too long, though no fault kept them from it"},
	{lb.Broken, "BROKEN", "by its own answers more held the lock at once than may or a grant was dropped while held, or no care that it can offer kept the data right"},
	{lb.Inconclusive, "?", "inconclusive: the run proves nothing, and says why"},
	{lb.NotAvailable, "n/a", "the fault has no meaning here"},
}

// short is what stands in a cell.
func short(c *checker.Cell) string {
	for _, k := range outcomes {
		if k.Outcome == c.Outcome && word(c) == string(c.Outcome) {
			return k.Short
		}
	}
	return word(c)
}

// hurt reports whether somebody was hurt in such a cell, so that its history
// deserves to be shown.
func hurt(o lb.Outcome) bool {
	switch o {
	case lb.Check, lb.Fence, lb.Stuck, lb.Broken:
		return true
	}
	return false
}

// grid is the cells by row (algorithm) and column (fault), both in groups. Groups
// of rows, and what is in a group, are in the order of first appearance: that of the catalogue. The column
// without a fault comes first, as the yardstick of the others.
type grid struct {
	Rows, Cols           []string
	locks                map[string]bool // fewer than rows where servers are told apart
	RowGroups, ColGroups []group
	cells                map[[2]string]*checker.Cell
	planned              int // runs of each cell, 0 where nobody said
}

const noFault = "none"

func newGrid(cells []checker.Cell, planned int) grid {
	g := grid{cells: make(map[[2]string]*checker.Cell, len(cells)), locks: map[string]bool{}, planned: planned}
	cells = slices.Clone(cells)
	titles := map[string]string{}
	families := map[string]history.Family{noFault: history.Nothing}
	for i := range cells {
		g.locks[cells[i].Algorithm] = true
		cells[i].Algorithm, cells[i].Servers = cells[i].Row(), "" // a row is what a reader calls it
		c := cells[i]
		k := [2]string{c.Algorithm, c.Fault}
		if !slices.Contains(g.Rows, c.Algorithm) {
			g.Rows = append(g.Rows, c.Algorithm)
		}
		if !slices.Contains(g.Cols, c.Fault) {
			g.Cols = append(g.Cols, c.Fault)
		}
		g.cells[k] = &cells[i]
		titles[c.Algorithm] = cmp.Or(titles[c.Algorithm], c.Group)
		families[c.Fault] = cmp.Or(families[c.Fault], c.Family)
	}
	g.RowGroups, g.ColGroups = byTitle(g.Rows, titles), byFamily(g.Cols, families)
	g.Rows, g.Cols = namesOf(g.RowGroups), namesOf(g.ColGroups)
	return g
}

// Large reports whether the matrix needs headings to be found one's way in.
func (g grid) Large() bool { return len(g.Rows) > 12 || len(g.Cols) > 9 }

// At returns nil where the pair was not tried.
func (g grid) At(row, col string) *checker.Cell { return g.cells[[2]string{row, col}] }

// MinWidth is the width in pixels below which the page lets the matrix scroll.
func (g grid) MinWidth() int {
	if g.Large() {
		return 150 + 46*len(g.Cols)
	}
	return 130 + 68*len(g.Cols)
}

// inOrder are the cells that f picks, row by row.
func (g grid) inOrder(f func(*checker.Cell) bool) []*checker.Cell {
	var out []*checker.Cell
	for _, r := range g.Rows {
		for _, c := range g.Cols {
			if cell := g.At(r, c); cell != nil && f(cell) {
				out = append(out, cell)
			}
		}
	}
	return out
}

// inRow are the cells of a row that f picks.
func (g grid) inRow(row string, f func(*checker.Cell) bool) []*checker.Cell {
	return g.inOrder(func(c *checker.Cell) bool { return c.Algorithm == row && f(c) })
}

func isHurt(c *checker.Cell) bool    { return hurt(c.Outcome) }
func isBroken(c *checker.Cell) bool  { return c.Promise == checker.PromiseBroken }
func isUnclear(c *checker.Cell) bool { return c.Outcome == lb.Inconclusive && !notRun(c) }

// count is how many cells have an outcome.
type count struct {
	lb.Outcome
	N int
}

// Counts are those of [grid.counts], for the template.
func (g grid) Counts() []count { return g.counts() }

// counts are the outcomes that occur, from best to worst. A cell without a run has
// none, nor has one whose run failed.
func (g grid) counts() []count {
	var out []count
	for _, k := range outcomes {
		n := len(g.inOrder(func(c *checker.Cell) bool { return c.Outcome == k.Outcome && !notRun(c) && !hasFailed(c) }))
		if n > 0 {
			out = append(out, count{k.Outcome, n})
		}
	}
	return out
}

// under says how many faults were tried; the column without one is none.
func (g grid) under() string {
	n := len(g.Cols)
	switch {
	case !slices.Contains(g.Cols, noFault):
		return "under " + english.Count(n, "fault")
	case n == 1:
		return "without a fault"
	}
	return "without a fault and under " + english.Count(n-1, "fault")
}

// summary is the counts in one sentence.
func (g grid) summary() string {
	var parts []string
	for _, c := range g.counts() {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Outcome))
	}
	if n := len(g.inOrder(hasFailed)); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, failedShort))
	}
	if n := len(g.inOrder(notRun)); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, notRunShort))
	}
	s := english.Count(len(g.locks), "algorithm") + " " + g.under() + ": " + strings.Join(parts, ", ")
	return s + g.promises() + "."
}

// promises says how the cells compare with what their locks, or a gate's file, declare.
func (g grid) promises() string {
	number := func(promise string) int {
		return len(g.inOrder(func(c *checker.Cell) bool { return c.Promise == promise && c.Outcome != lb.NotAvailable && !notRun(c) }))
	}
	broken, open, kept, without := number(checker.PromiseBroken), number(checker.PromiseOpen), number(checker.PromiseKept), number("")
	s := ""
	switch {
	case broken > 0:
		s = fmt.Sprintf("; %d not as declared", broken)
	case open > 0, kept > 0 && (without > 0 || !g.proven()):
		s = "; none against what is declared"
	case kept > 0:
		return "; all as declared"
	case without > 0:
		return "; nothing is declared"
	}
	if open > 0 {
		s += fmt.Sprintf(", %d undecided", open)
	}
	if without > 0 {
		s += ", nothing declared of " + english.Count(without, "cell")
	}
	return s
}
