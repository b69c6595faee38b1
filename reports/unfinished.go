package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
)

func notRun(c *checker.Cell) bool { return rundir.IsPending(c) }

// isElsewhere reports whether another shard has all the runs of the cell.
func isElsewhere(c *checker.Cell) bool { return notRun(c) && c.Reason == rundir.Elsewhere }

// isMissing reports whether the cell was to have runs here, and has none.
func isMissing(c *checker.Cell) bool { return notRun(c) && !isElsewhere(c) }

// wanted is how many runs the cell was to have, 0 where nobody said.
func (g grid) wanted(c *checker.Cell) int { return cmp.Or(c.Planned, g.planned) }

// hasFailed reports whether the bench came to no end with any run of the cell, so that
// nothing is known of the lock.
func hasFailed(c *checker.Cell) bool {
	return c.Outcome == lb.Inconclusive && c.Failed > 0 && c.Failed == c.Runs
}

// word is the cell's outcome, or the word for having none.
func word(c *checker.Cell) string {
	switch {
	case notRun(c):
		return notRunShort
	case hasFailed(c):
		return failedShort
	}
	return string(c.Outcome)
}

// What stands in the cells that have no outcome.
const (
	notRunShort = "not run"
	failedShort = "failed"
)

// waiting is a lock with the faults under which it was not run.
type waiting struct {
	Lock   string
	Faults []string
}

func waitingIn(g grid, which func(*checker.Cell) bool) []waiting {
	var out []waiting
	for _, c := range g.inOrder(which) {
		if n := len(out); n == 0 || out[n-1].Lock != c.Algorithm {
			out = append(out, waiting{Lock: c.Algorithm})
		}
		last := &out[len(out)-1]
		last.Faults = append(last.Faults, c.Fault)
	}
	return out
}

// proven reports whether every run of every cell was done and proved something.
func (g grid) proven() bool {
	return len(g.inOrder(func(c *checker.Cell) bool {
		return c.Outcome == lb.Inconclusive || c.Inconclusive > 0 || c.Runs < g.wanted(c) && c.Outcome != lb.NotAvailable
	})) == 0
}

// unfinished says what is missing of the matrix, or "".
func (g grid) unfinished() string {
	number := func(f func(*checker.Cell) bool) int { return len(g.inOrder(f)) }
	var lacks []string
	all := english.Count(number(func(*checker.Cell) bool { return true }), "cell")
	if n := number(isMissing); n > 0 {
		lacks = append(lacks, fmt.Sprintf("%d of %s without a run", n, all))
	}
	if n := number(isElsewhere); n > 0 {
		lacks = append(lacks, fmt.Sprintf("%d of %s in another shard", n, all))
	}
	if n := number(func(c *checker.Cell) bool { return c.Runs > 0 && c.Runs < g.wanted(c) }); n > 0 {
		lacks = append(lacks, english.Count(n, "cell")+" with fewer runs than planned")
	}
	switch failed := g.inOrder(hasFailed); {
	case len(failed) == 1 && failed[0].Runs == 1 && len(g.cells) == 1 && len(lacks) == 0: // a single run
		return "The run failed or was interrupted."
	case len(failed) > 0:
		lacks = append(lacks, fmt.Sprintf("%s whose run failed or was interrupted", english.Count(len(failed), "cell")))
	}
	if len(lacks) == 0 {
		return ""
	}
	return "This matrix is not finished: " + strings.Join(lacks, ", ") + "."
}

// open says of the cells that read SAFE how much their runs leave open: those with the
// fewest first, and how many cells that is.
func (g grid) open() (list []string) {
	cells := g.inOrder(func(c *checker.Cell) bool { return c.Open() != "" })
	slices.SortStableFunc(cells, func(a, b *checker.Cell) int { return a.Share.Of - b.Share.Of })
	for len(cells) > 0 {
		says := cells[0].Open()
		n := 0
		for n < len(cells) && cells[n].Open() == says {
			n++
		}
		list = append(list, fmt.Sprintf("%s with %s (95%% interval)", english.Count(n, "cell"), says))
		cells = cells[n:]
	}
	return list
}
