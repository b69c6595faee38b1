package cli

import (
	"fmt"
	"io"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// beside is the lock that stands beside a program of the user's, to tell its own mistakes from
// what no lock of its kind can do: one by the book on the same servers, which outlasts its
// lease if the program's does, where there is a choice. "" for none, as on a topology on which
// it does not run.
func (p program) beside(own *history.Exec, topology string) string {
	impl, err := p.Lock(own.Name)
	if err != nil {
		return ""
	}
	mine := impl.Info()
	for _, t := range mine.Topologies {
		var found *lb.Info
		for _, l := range p.Locks {
			info := l.Info()
			if !info.ByTheBook || info.Name == mine.Name || info.Topologies[0] != t {
				continue
			}
			if found == nil || lasts(*found) != lasts(mine) && lasts(info) == lasts(mine) {
				found = &info
			}
		}
		if found != nil && (topology == "" || slices.Contains(found.Topologies, topology)) {
			return found.Name
		}
	}
	return ""
}

// lasts reports whether a lock is held for longer than a lease.
func lasts(i lb.Info) bool { return i.Traits.Renewing || i.Traits.Session }

// tellWhose says of each fault that hurt the program's users what it did to those of the lock
// beside it. Both are often one run: where to look is a hint, and whose mistake it is stays open.
func tellWhose(w io.Writer, own, beside string, cells []checker.Cell) {
	worse := lb.Outcomes()
	for _, c := range cells {
		mine := slices.Index(worse, c.Outcome)
		i := slices.IndexFunc(cells, func(o checker.Cell) bool { return o.Algorithm == beside && o.Fault == c.Fault })
		if c.Algorithm != own || mine < 1 || i < 0 || !slices.Contains(worse, cells[i].Outcome) {
			continue
		}
		o := &cells[i]
		fmt.Fprintf(w, "%s × %s: %s; %s, a correct lock on such servers, was %s there: ", own, c.Fault, how(&c), beside, how(o))
		switch other := slices.Index(worse, o.Outcome); {
		case other == 0:
			fmt.Fprint(w, "look at yours first\n")
		case mine > other:
			fmt.Fprint(w, "look first at what yours does worse\n")
		case mine < other:
			fmt.Fprint(w, "yours was no worse\n")
		case c.Mechanism != o.Mechanism:
			fmt.Fprint(w, "look first at what yours does otherwise\n")
		default:
			fmt.Fprint(w, "both were hurt the same way, so look whether for the same reason\n")
		}
	}
}

// how is the outcome with its mechanism, the worst of so many runs.
func how(c *checker.Cell) string {
	s := string(c.Outcome)
	if c.Mechanism != "" {
		s += " (" + c.Mechanism + ")"
	}
	if c.Runs > 1 {
		s += " at worst"
	}
	return s + " in " + english.Count(c.Runs, "run")
}
