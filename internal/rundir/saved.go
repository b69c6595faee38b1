package rundir

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// Saved are cells as they were once, and what is known of the plans of their runs.
type Saved struct {
	Cells []checker.Cell

	plans map[place]history.Plan // of one run of each cell
	// all is what a saved matrix says of every run, nil where nothing is known.
	all *history.Plan
}

type place struct{ algorithm, fault string }

// OpenSaved reads the cells of a directory of a run or a matrix, or of a file: matrix.json,
// or what --json prints.
func OpenSaved(name string) (Saved, error) {
	if info, err := os.Stat(name); err != nil {
		return Saved{}, fmt.Errorf("rundir: %w", err)
	} else if !info.IsDir() {
		var file MatrixFile
		if err := readJSON(name, &file); err != nil {
			return Saved{}, err
		}
		return Saved{Cells: file.Cells, all: file.Plan}, nil
	}
	what, err := Kind(name)
	if err != nil {
		return Saved{}, err
	}
	var s Saved
	var runs []*Run
	if what == IsMatrix {
		m, err := OpenMatrix(name)
		if err != nil {
			return Saved{}, err
		}
		s.Cells, s.all = m.Cells, m.Plan
		runs, _ = m.Runs()
	} else {
		j, err := Join([]string{name})
		if err != nil {
			return Saved{}, fmt.Errorf("%s holds no runs: %w", name, err)
		}
		s.Cells = j.Cells
		for _, r := range j.runs {
			runs = append(runs, r)
		}
	}
	s.plans = map[place]history.Plan{}
	for _, r := range runs {
		s.plans[place{r.Plan.Algorithm, r.Plan.Fault}] = r.Plan
	}
	return s, nil
}

// plan is the plan of the cell's runs. What is not known of it is as in the other.
func (s Saved) plan(at place, other history.Plan) history.Plan {
	p, ok := s.plans[at]
	if !ok && s.all == nil {
		return other
	} else if !ok {
		p = *s.all
	}
	// A matrix leaves these to each cell.
	p.Workload, p.Topology = cmp.Or(p.Workload, other.Workload), cmp.Or(p.Topology, other.Topology)
	p.Clients, p.Processes = cmp.Or(p.Clients, other.Clients), cmp.Or(p.Processes, other.Processes)
	p.TTL = cmp.Or(p.TTL, other.TTL)
	return p
}

// Differ says in sentences in what the plans of cells differ that both have, so that a
// change between them need not be one of the lock. Names are those of the two.
func (s Saved) Differ(o Saved, name, otherName string) (notes []string) {
	var all []history.Difference // each once
	cells := map[history.Difference]int{}
	both := 0
	for _, c := range s.Cells {
		if !slices.ContainsFunc(o.Cells, func(d checker.Cell) bool { return c.Algorithm == d.Algorithm && c.Fault == d.Fault }) {
			continue
		}
		both++
		at := place{c.Algorithm, c.Fault}
		theirs := o.plan(at, s.plan(at, history.Plan{}))
		for _, d := range s.plan(at, theirs).Settings(theirs) {
			if cells[d]++; cells[d] == 1 {
				all = append(all, d)
			}
		}
	}
	for _, d := range all {
		where := ""
		if cells[d] < both {
			where = fmt.Sprintf(" (%d of %d cells)", cells[d], both)
		}
		notes = append(notes, fmt.Sprintf("The %s is not the same: %s in %s, %s in %s%s.", d.What, d.A, name, d.B, otherName, where))
	}
	return notes
}
