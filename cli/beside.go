package cli

import (
	"fmt"
	"io"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/run"
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

// instead is the plan of the run in which the lock beside has the program's place. There is none where that lock
// can't do what the program did, as it lacks the step of the fault, or can't be kept for as long as the work takes.
func (p program) instead(m run.Matrix, plan history.Plan, fault faults.Fault) (same history.Plan, ok bool) {
	other, err := p.Lock(p.beside(plan.Exec, plan.Topology))
	if err != nil {
		return same, false
	}
	if m.Workload, err = p.Workload(plan.Workload); err != nil {
		return same, false
	}
	asked := m.Base.Work
	m.Base = plan
	m.Base.Exec, m.Base.Require, m.Base.Work = nil, "", asked
	same = m.For(other, fault, 0)
	return same, renewed(asked, other.Info()) == nil && m.Available(same, fault) == nil
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
