package run

import (
	"context"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
)

// JudgeMatrix judges every run of a matrix again and makes its cells anew, also of one
// that was interrupted. The notes say what was not done and what can't be saved, the
// errors which runs can't be judged.
func JudgeMatrix(ctx context.Context, m *rundir.Matrix) (notes []string, errs []error) {
	var saved error
	save := func(err error) {
		if saved == nil {
			saved = err
		}
	}
	type cell struct{ algorithm, fault string }
	results, dirs := map[cell][]lb.RunResult{}, map[cell][]string{}
	runs, errs := m.Runs()
	for _, r := range runs {
		res, err := Judge(ctx, r)
		if ctx.Err() != nil {
			return nil, []error{ctx.Err()}
		}
		if err != nil {
			errs = append(errs, err)
			res = failed(r.Plan, err)
		} else {
			save(r.SaveResult(res))
		}
		dir, err := m.Rel(r)
		if err != nil {
			errs = append(errs, err)
		}
		c := cell{r.Plan.Algorithm, r.Plan.Fault}
		results[c], dirs[c] = append(results[c], res), append(dirs[c], dir)
		if !slices.ContainsFunc(m.Cells, func(o lb.Cell) bool { return c == cell{o.Algorithm, o.Fault} }) {
			m.Cells = append(m.Cells, lb.Cell{Algorithm: c.algorithm, Fault: c.fault})
		}
	}
	for i, old := range m.Cells {
		c := cell{old.Algorithm, old.Fault}
		if done := results[c]; len(done) > 0 {
			m.Cells[i] = Cell(done)
			m.Cells[i].Dir = dirs[c][Decisive(done)]
		} else if old.Outcome != lb.NotAvailable {
			m.Cells[i] = rundir.Pending(old)
		}
		if n := m.Planned - len(results[c]); n > 0 && m.Cells[i].Outcome != lb.NotAvailable {
			notes = append(notes, fmt.Sprintf("%s × %s: %d of %d runs not done", c.algorithm, c.fault, n, m.Planned))
		}
	}
	if save(m.Save()); saved != nil {
		notes = append(notes, "not saved: "+saved.Error())
	}
	return notes, errs
}
