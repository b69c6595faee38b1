package reports

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// calmCell is one in which nobody was hurt.
type calmCell struct {
	*checker.Cell
	// Notes are what a reader should know about the recording itself.
	Notes []string
}

// absence is why some faults have no meaning for some locks.
type absence struct {
	ID, Reason    string
	Faults, Locks []string
}

// absences gathers the cells that are n/a by reason, faults and locks, because
// nobody reads two hundred lines of the same.
func absences(g grid) []absence {
	var out []absence
	for _, row := range g.Rows {
		for _, a := range absencesOf(g, row) {
			i := slices.IndexFunc(out, func(b absence) bool {
				return a.Reason == b.Reason && slices.Equal(a.Faults, b.Faults)
			})
			if i < 0 {
				a.ID = fmt.Sprintf("na-%d", len(out)+1)
				out = append(out, a)
				continue
			}
			out[i].Locks = append(out[i].Locks, row)
		}
	}
	return out
}

func absencesOf(g grid, row string) []absence {
	var out []absence
	for _, col := range g.Cols {
		c := g.At(row, col)
		if c == nil || c.Outcome != lb.NotAvailable || isBroken(c) {
			continue
		}
		reason, _, _ := strings.Cut(strings.TrimPrefix(c.Reason, row+" "), "\n") // one of several will do
		i := slices.IndexFunc(out, func(a absence) bool { return a.Reason == reason })
		if i < 0 {
			out = append(out, absence{Reason: reason, Locks: []string{row}})
			i = len(out) - 1
		}
		out[i].Faults = append(out[i].Faults, col)
	}
	return out
}

// Link is where the page explains a cell.
func (v *view) Link(c *checker.Cell) string {
	if notRun(c) {
		return "notrun"
	}
	for _, a := range v.Absent {
		if c.Outcome == lb.NotAvailable && slices.Contains(a.Faults, c.Fault) && slices.Contains(a.Locks, c.Algorithm) {
			return a.ID
		}
	}
	return anchor(c)
}
