package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Place is an algorithm under a fault, with all runs of it.
type Place struct {
	Algorithm, Fault string
	// Planned is how many runs there should be.
	Planned int
	// None is why there can be none, or "".
	None string

	results []checker.Result
	dirs    []string
}

// Read reads the results of runs and of matrices. The same algorithm under the same fault
// is one place, in whichever directories its runs are. The places come also where the
// error says that some runs can't be read.
func Read(dirs []string) ([]*Place, error) {
	var r reader
	for _, dir := range dirs {
		r.dir(dir)
	}
	return r.places, errors.Join(r.errs...)
}

type reader struct {
	places []*Place
	errs   []error
}

func (r *reader) dir(dir string) {
	what, err := rundir.Kind(dir)
	switch {
	case err != nil:
		r.fail(err)
	case what == rundir.IsMatrix:
		m, err := rundir.OpenMatrix(dir)
		if err != nil {
			r.fail(err)
			return
		}
		for _, c := range m.Cells {
			p := r.at(c.Algorithm, c.Fault)
			if c.Outcome == lb.NotAvailable {
				p.None = c.Reason
			} else {
				p.Planned += m.Planned
			}
		}
		runs, damaged := m.Runs()
		for _, err := range damaged {
			r.fail(err)
		}
		for _, run := range runs {
			r.run(run)
		}
	case what == rundir.IsRun:
		run, err := rundir.OpenRun(dir)
		if err != nil {
			r.fail(err)
			return
		}
		r.at(run.Plan.Algorithm, run.Plan.Fault).Planned++
		r.run(run)
	default:
		r.fail(fmt.Errorf("%s is a %s, and holds no runs: %w", dir, what, fs.ErrNotExist))
	}
}

func (r *reader) fail(err error) { r.errs = append(r.errs, err) }

func (r *reader) at(algorithm, fault string) *Place {
	i := slices.IndexFunc(r.places, func(p *Place) bool { return p.Algorithm == algorithm && p.Fault == fault })
	if i < 0 {
		i, r.places = len(r.places), append(r.places, &Place{Algorithm: algorithm, Fault: fault})
	}
	return r.places[i]
}

func (r *reader) run(run *rundir.Run) {
	res, err := run.Result()
	if err != nil {
		res = checker.Result{Outcome: lb.Inconclusive, Failed: true, OutageMS: -1, FirstViolationMS: -1,
			Reason: fmt.Sprintf("the run was not judged (lockbench check %s judges it)", run.Dir)}
		if !errors.Is(err, fs.ErrNotExist) {
			r.fail(err)
		}
	}
	res.Plan = run.Plan
	p := r.at(run.Plan.Algorithm, run.Plan.Fault)
	p.results, p.dirs = append(p.results, res), append(p.dirs, filepath.Clean(run.Dir))
}

// Judged is a cell, with the plan of the run that decides it.
type Judged struct {
	checker.Cell
	// Plan is that of no run where there is none.
	Plan history.Plan
}

// cell makes the cell of the place, by what must come out there. blind says why a break
// that must be seen again can't have been: the fault took effect in no run.
func (p *Place) cell(c Config) (j Judged, blind string, n int) {
	if len(p.results) == 0 {
		j.Cell = rundir.Pending(checker.Cell{Algorithm: p.Algorithm, Fault: p.Fault})
		if p.None != "" {
			j.Outcome, j.Reason = lb.NotAvailable, p.None
		}
		_, n = c.Expect(p.Algorithm, p.Fault, nil)
		return j, "", n
	}
	e, n := c.Expect(p.Algorithm, p.Fault, p.results[0].Plan.Expect)
	info := lb.Info{Name: p.Algorithm}
	if e != nil {
		info.Expect = []lb.Expectation{*e}
		info.Expect[0].Fault = p.Fault
	}
	i := checker.Decisive(p.results, info)
	j.Cell, j.Plan = checker.Merge(p.results, info), p.results[i].Plan
	j.Dir = p.dirs[i]
	if e != nil && !slices.Contains(e.Outcomes, lb.Safe) && j.Violations == 0 && !p.bit() {
		blind = j.Reason
	}
	return j, blind, n
}

// bit reports whether the fault took effect in some run, or no run came to its end.
func (p *Place) bit() bool {
	ended := false
	for _, r := range p.results {
		if r.Effect.Proven {
			return true
		}
		ended = ended || !r.Failed
	}
	return !ended
}
