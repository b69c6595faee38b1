package reports

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
)

// notRun reports whether the cell is planned, but has no run: the matrix was
// interrupted, or still goes on.
func notRun(c *lockbench.Cell) bool {
	return c.Outcome == lockbench.Inconclusive && c.Runs == 0 && c.Reason == rundir.NotRun
}

// notRunShort stands in the cell.
const notRunShort = "not run"

// waiting is a lock with the faults under which it was not run.
type waiting struct {
	Lock   string
	Faults []string
}

func waitingIn(g grid) []waiting {
	var out []waiting
	for _, c := range g.inOrder(notRun) {
		if n := len(out); n == 0 || out[n-1].Lock != c.Algorithm {
			out = append(out, waiting{Lock: c.Algorithm})
		}
		last := &out[len(out)-1]
		last.Faults = append(last.Faults, c.Fault)
	}
	return out
}

// unfinished says what is missing of a matrix with so many runs a cell, or "".
func (g grid) unfinished(planned int) string {
	number := func(f func(*lockbench.Cell) bool) int { return len(g.inOrder(f)) }
	var missing []string
	if n := number(notRun); n > 0 {
		all := number(func(*lockbench.Cell) bool { return true })
		missing = append(missing, fmt.Sprintf("%d of %s without a run", n, plural(all, "cell", "cells")))
	}
	if n := number(func(c *lockbench.Cell) bool { return c.Runs > 0 && c.Runs < planned }); n > 0 {
		missing = append(missing, fmt.Sprintf("%s with fewer than the %d runs planned", plural(n, "cell", "cells"), planned))
	}
	if len(missing) == 0 {
		return ""
	}
	return "This matrix is not finished: " + strings.Join(missing, ", ") + "."
}
