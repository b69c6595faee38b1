package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Again is the matrix of which the directory was made, with this catalogue: to be resumed
// as it was, or with more runs.
func (m *Matrix) Again(out *rundir.Matrix) error {
	if out.Plan == nil {
		return fmt.Errorf("%s does not say how it was planned: an older lockbench made it", out.Dir)
	}
	m.Base, m.Runs, m.Until, m.Shard = *out.Plan, out.Planned, out.Until, out.Shard
	var err error
	if e := m.Base.Exec; e != nil && foreign.Digest(e.Command, e.Dir) != e.Digest {
		return fmt.Errorf("%s was made with another program than %s is now: begin a matrix of its own", out.Dir, e.Command)
	}
	if m.Catalog, err = m.Catalog.With(m.Base.Exec); err != nil {
		return err
	}
	if m.Workload, err = m.Catalog.Workload(m.Base.Workload); err != nil {
		return err
	}
	var algorithms, columns []string
	for _, c := range out.Cells {
		if !slices.Contains(algorithms, c.Algorithm) {
			algorithms = append(algorithms, c.Algorithm)
			impl, err := m.Catalog.Lock(c.Algorithm)
			if err != nil {
				return err
			}
			m.Algorithms = append(m.Algorithms, impl)
		}
		if !slices.Contains(columns, c.Fault) {
			columns = append(columns, c.Fault)
			fault, err := m.Catalog.Fault(c.Fault)
			if err != nil {
				return err
			}
			m.Faults = append(m.Faults, fault)
		}
	}
	for i, c := range out.Cells {
		if len(out.Cells) != len(algorithms)*len(columns) || c.Algorithm != algorithms[i/len(columns)] || c.Fault != columns[i%len(columns)] {
			return fmt.Errorf("%s is no matrix of algorithms by faults: it can't be resumed", out.Dir)
		}
	}
	return nil
}

// Resume goes on with a matrix that was interrupted, or that is to have more runs: what has
// come to its end is kept, and everything else is run anew. Of a run that failed only harm
// is kept; what else was left of it is set aside.
func (m *Matrix) Resume(ctx context.Context, out *rundir.Matrix) ([]checker.Cell, error) {
	recorded, err := m.recorded(out)
	if err != nil {
		return nil, err
	}
	before := make([]map[int]checker.Result, len(out.Cells))
	for i, runs := range recorded {
		before[i] = map[int]checker.Result{}
		for n, r := range runs {
			res, err := r.Result()
			if err == nil && (!res.Failed || res.Outcome != lb.Inconclusive) {
				before[i][n] = res
			}
		}
	}
	out.Planned, out.Until = m.Runs, m.Until
	for i := range out.Cells {
		if out.Cells[i].Outcome == lb.NotAvailable {
			continue
		}
		for _, n := range out.Begun(i) {
			if _, kept := before[i][n]; kept {
				continue
			}
			if err := out.SetAside(i, n); err != nil {
				return nil, err
			}
		}
	}
	m.divide(out)
	if err := m.merged(out, before); err != nil {
		return nil, err
	}
	return m.do(ctx, out, before)
}

// recorded are the runs that have a plan, by the number of each in its cell. One that another
// plan would make is an error; one whose plan is damaged is left out.
func (m *Matrix) recorded(out *rundir.Matrix) ([]map[int]*rundir.Run, error) {
	recorded := make([]map[int]*rundir.Run, len(out.Cells))
	for i := range recorded {
		recorded[i] = map[int]*rundir.Run{}
	}
	runs, _ := out.Runs()
	for _, r := range runs {
		i, n, err := out.Place(r)
		if err != nil {
			return nil, err
		}
		want := m.For(m.Algorithms[i/len(m.Faults)], m.Faults[i%len(m.Faults)], n)
		if err := errors.Join(want.Same(r.Plan), want.SameRun(r.Plan)); err != nil {
			return nil, fmt.Errorf("%s was made by another plan than this lockbench has: %w", r.Dir, err)
		}
		recorded[i][n] = r
	}
	return recorded, nil
}

// merged makes the cells of the results, by the number of each run, and saves them.
func (m *Matrix) merged(out *rundir.Matrix, results []map[int]checker.Result) error {
	q := newQueue(m, out, results)
	for i, s := range q.cells {
		if len(s.results) > 0 {
			out.Cells[i] = q.merge(s)
		} else if out.Cells[i].Runs > 0 {
			out.Cells[i] = rundir.Pending(out.Cells[i])
		}
	}
	return out.Save()
}
