package run

import (
	"context"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
)

// JudgeMatrix judges every run of a matrix again and makes its cells anew, also of one
// that was interrupted. The notes say what was not done and what can't be saved, the
// errors which runs can't be judged.
func JudgeMatrix(ctx context.Context, c catalog.Catalog, m *rundir.Matrix) (notes []string, errs []error) {
	var saved error
	save := func(err error) {
		if saved == nil {
			saved = err
		}
	}
	type cell struct{ algorithm, fault string }
	results, dirs := map[cell][]checker.Result{}, map[cell][]string{}
	runs, errs := m.Runs()
	for _, r := range runs {
		res, err := Judge(ctx, c, r)
		if ctx.Err() != nil {
			return nil, []error{ctx.Err()}
		}
		if err != nil {
			errs = append(errs, err)
			res = failed(r.Plan, err)
		} else {
			save(r.SaveResult(res))
		}
		if wasInterrupted(res) {
			continue
		}
		dir, err := m.Rel(r)
		if err != nil {
			errs = append(errs, err)
		}
		at := cell{r.Plan.Algorithm, r.Plan.Fault}
		results[at], dirs[at] = append(results[at], res), append(dirs[at], dir)
		if !slices.ContainsFunc(m.Cells, func(o checker.Cell) bool { return at == cell{o.Algorithm, o.Fault} }) {
			m.Cells = append(m.Cells, checker.Cell{Algorithm: at.algorithm, Fault: at.fault})
		}
	}
	for i, old := range m.Cells {
		at := cell{old.Algorithm, old.Fault}
		if done := results[at]; len(done) > 0 {
			m.Cells[i] = checker.CellOf(done)
			m.Cells[i].Dir = dirs[at][checker.DecisiveOf(done)]
			m.Cells[i].Planned = old.Planned
		} else if old.Outcome != lb.NotAvailable && old.Reason != rundir.Elsewhere {
			m.Cells[i] = rundir.Pending(old)
		}
		planned := m.PlannedOf(i)
		if n := planned - len(results[at]); n > 0 && m.Cells[i].Outcome != lb.NotAvailable {
			notes = append(notes, fmt.Sprintf("%s × %s: %d of %s not done", at.algorithm, at.fault, n, english.Count(planned, "run")))
		}
	}
	if save(m.Save()); saved != nil {
		notes = append(notes, "not saved: "+saved.Error())
	}
	return notes, errs
}
