package reports

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
)

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
