package reports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// page is a directory that is reported on: a matrix, or a run, which is a matrix of
// one cell.
type page struct {
	cells   []checker.Cell
	planned int // runs of each cell, 0 where nobody said
	run     func(checker.Cell) (*rundir.Run, error)
	notes   []string // of what was read together
	// explored are the explorations of the locks. orders: there is nothing else, and the cells are
	// orders that broke one.
	explored []*rundir.Explored
	orders   bool
}

// load reads what the directories say of themselves, several as one matrix. Where one is
// the directory of neither, the error matches [fs.ErrNotExist].
func load(dirs []string) (*page, error) {
	if len(dirs) != 1 {
		j, err := rundir.Join(dirs)
		if err != nil {
			return nil, err
		}
		p := &page{cells: j.Cells, planned: j.Planned, run: j.Run, notes: j.Notes}
		for _, dir := range dirs {
			p.addExplored(dir)
		}
		return p, nil
	}
	dir := dirs[0]
	kind, err := rundir.Kind(dir)
	switch {
	case err != nil:
		return nil, err
	case kind == rundir.IsMatrix:
		m, err := rundir.OpenMatrix(dir)
		if err != nil {
			return nil, err
		}
		p := &page{cells: m.Cells, planned: m.Planned, run: m.Run}
		if m.Shard.Of > 0 {
			p.notes = append(p.notes, fmt.Sprintf("This is shard %s of a matrix: lockbench report with the directories of all joins them.", m.Shard))
		}
		p.addExplored(dir)
		return p, nil
	case kind == rundir.IsExplored:
		return loadOrders(dir)
	case kind == rundir.IsRun:
		r, err := rundir.OpenRun(dir)
		if err != nil {
			return nil, err
		}
		return &page{cells: []checker.Cell{cellOf(r)}, run: func(checker.Cell) (*rundir.Run, error) { return r, nil }}, nil
	}
	return nil, rundir.Absent("%s is %s, which has a page and no summary: leave out --markdown", dir, kind.One())
}

// cellOf makes the cell of a single run, by the expectation that its plan carries.
func cellOf(run *rundir.Run) checker.Cell {
	plan := run.Plan
	r, err := run.Result()
	if err != nil {
		c := checker.Cell{Algorithm: plan.Algorithm, Fault: plan.Fault, Outcome: lb.Inconclusive, Reason: unjudged(err),
			Runs: 1, Seed: plan.Seed, Dir: ".", OutageMS: -1, FirstViolationMS: -1}
		if plan.About != nil {
			c.Group, c.Family = plan.About.Group, plan.About.Family
		}
		return c
	}
	r.Plan = plan
	c := checker.CellOf([]checker.Result{r})
	c.Dir = "."
	if plan.About != nil && plan.About.Wrong != "" {
		if c.Fault = plan.About.Wrong; c.Fault == (rundir.Class{}).String() { // of an older lockbench
			c.Fault = rundir.Class{}.Fault()
		}
	}
	return c
}

// unjudged says why there is no result.
func unjudged(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "this run was not judged: it was interrupted, or still goes on"
	}
	return "what the checkers made of this run can’t be read: " + err.Error()
}

// pathToEvents is where a run lay whose notes an older lockbench wrote.
var pathToEvents = regexp.MustCompile(`[^\s"]*/events/`)

// record is what is left of the run that determined a cell. What can't be read is nil,
// and the notes say why.
type record struct {
	run     *rundir.Run
	result  *checker.Result
	history *history.Index
	notes   set
}

// read opens the cell's run, and where the page needs it, its history.
func (p *page) read(c *checker.Cell, withHistory bool) record {
	var r record
	var err error
	if r.run, err = p.run(*c); err != nil {
		r.notes.add("Its files could not be read: " + err.Error())
		return r
	}
	if res, err := r.run.Result(); err == nil {
		r.result = &res
	} else if why := unjudged(err); why != c.Reason {
		r.notes.add(why)
	}
	if withHistory {
		r.history, err = r.run.History(context.Background())
		if at := (*history.LineError)(nil); errors.As(err, &at) {
			at.File = filepath.Base(at.File) // the page may be read elsewhere
		}
		if err != nil {
			r.notes.add("Its history could not be read: " + err.Error())
		}
	}
	if r.history != nil {
		if err := r.run.Ended(r.history); err != nil {
			r.notes.add("The run did not come to its planned end: " + err.Error())
		}
		for _, d := range r.history.Doubts {
			r.notes.add("The history is not whole, so that nothing can be claimed: " + d)
		}
		for _, n := range r.history.Notes {
			r.notes.add(n)
		}
	}
	if r.result != nil {
		for _, n := range r.result.Notes {
			r.notes.add(pathToEvents.ReplaceAllString(n, ""))
		}
	}
	return r
}
