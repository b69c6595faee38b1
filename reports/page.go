package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/history"
)

// The files of a report directory.
const (
	matrixFile  = "matrix.json"
	planFile    = "plan.json"
	resultsFile = "results.json"
)

// matrixSchema is the version of matrix.json that this package reads.
const matrixSchema = 1

// Page is a report directory, read: either a matrix or a single run, which is
// a matrix of one cell.
type Page struct {
	Dir   string
	Cells []lockbench.Cell
}

// Run is the run that determined a cell, as far as its files are there.
type Run struct {
	Plan   lockbench.Plan
	Result lockbench.RunResult
	dir    string
}

// Load reads dir. A directory with a matrix.json is a matrix; one with a
// results.json is a single run; anything else is an error that matches
// [fs.ErrNotExist].
func Load(dir string) (*Page, error) {
	var m struct {
		Schema int              `json:"schema"`
		Cells  []lockbench.Cell `json:"cells"`
	}
	err := readJSON(filepath.Join(dir, matrixFile), &m)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return loadRun(dir)
	case err != nil:
		return nil, err
	case m.Schema != matrixSchema:
		return nil, fmt.Errorf("reports: %s has schema %d, this version reads %d", matrixFile, m.Schema, matrixSchema)
	}
	return &Page{Dir: dir, Cells: m.Cells}, nil
}

func loadRun(dir string) (*Page, error) {
	var r lockbench.RunResult
	if err := readJSON(filepath.Join(dir, resultsFile), &r); err != nil {
		return nil, fmt.Errorf("reports: %s has neither %s nor a readable %s: %w", dir, matrixFile, resultsFile, err)
	}
	return &Page{Dir: dir, Cells: []lockbench.Cell{cellOf(r)}}, nil
}

// cellOf makes the cell of a single run. Nothing is promised there: that takes
// the algorithm's expectations, which a run's directory does not carry.
func cellOf(r lockbench.RunResult) lockbench.Cell {
	c := lockbench.Cell{
		Algorithm: r.Plan.Algorithm, Fault: r.Plan.Fault, Outcome: r.Outcome, Reason: r.Reason,
		Runs: 1, Sections: r.Sections, Copies: r.Copies, OutageMS: r.OutageMS,
		FirstViolationMS: r.FirstViolationMS, Effect: r.Effect.Measured, Seed: r.Plan.Seed, Dir: ".",
	}
	if hurt(r.Outcome) {
		c.Violations = 1
	}
	return c
}

// Run reads the plan and the results of the cell's run.
func (p *Page) Run(c lockbench.Cell) (*Run, error) {
	if c.Dir == "" || !filepath.IsLocal(c.Dir) {
		return nil, fmt.Errorf("reports: cell %s under %s names no directory below the report's: %q", c.Algorithm, c.Fault, c.Dir)
	}
	r := &Run{dir: filepath.Join(p.Dir, c.Dir)}
	if err := readJSON(filepath.Join(r.dir, planFile), &r.Plan); err != nil {
		return nil, err
	}
	if err := readJSON(filepath.Join(r.dir, resultsFile), &r.Result); err != nil {
		return nil, err
	}
	return r, nil
}

// History reads the run's history. The notes say what was wrong with the file
// and could be repaired.
func (r *Run) History() (lockbench.History, []string, error) {
	return history.ReadRun(r.dir)
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reports: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("reports: %s: %w", path, err)
	}
	return nil
}
