package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// NotRun is the reason of a cell of which no run has been done (yet).
const NotRun = "not run"

// Matrix is the directory of many runs.
type Matrix struct {
	Dir string
	// Cells are all that were planned, in their order. One without runs is
	// INCONCLUSIVE, with the reason [NotRun], unless the fault has no meaning there.
	Cells []checker.Cell
	// Planned is how many runs each cell was to have.
	Planned int

	mu  sync.Mutex
	dir []string // of each cell's runs, with slashes
}

// MatrixFile is matrix.json, and what --json prints.
type MatrixFile struct {
	Schema  int            `json:"schema"`
	Planned int            `json:"planned_runs,omitempty"`
	Cells   []checker.Cell `json:"cells"`
}

// CreateMatrix makes the directory of a matrix, of which the algorithm and the fault
// of each cell are given. There may be other files in it, but no matrix and no run.
func CreateMatrix(dir string, planned []checker.Cell, runs int) (*Matrix, error) {
	for _, file := range []string{matrixFile, planFile} {
		if exists(filepath.Join(dir, file)) {
			return nil, fmt.Errorf("rundir: a matrix never writes over another, or over a run: %s: %w", filepath.Join(dir, file), fs.ErrExist)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("rundir: %w", err)
	}
	m := &Matrix{Dir: dir, Cells: slices.Clone(planned), Planned: runs}
	var algorithms, faults names
	for i, c := range m.Cells {
		m.dir = append(m.dir, path.Join(cellsDir, algorithms.name(c.Algorithm), faults.name(c.Fault)))
		if c.Outcome == "" {
			m.Cells[i] = Pending(c)
		}
	}
	return m, m.Save()
}

// Pending is the cell as long as none of its runs has been done.
func Pending(c checker.Cell) checker.Cell {
	return checker.Cell{Algorithm: c.Algorithm, Fault: c.Fault, Outcome: lb.Inconclusive, Reason: NotRun,
		Copies: map[string]checker.Copy{}, OutageMS: -1, FirstViolationMS: -1, Seed: c.Seed}
}

// OpenMatrix reads a matrix, also one that is not finished.
func OpenMatrix(dir string) (*Matrix, error) {
	var file MatrixFile
	if err := readJSON(filepath.Join(dir, matrixFile), &file); err != nil {
		return nil, err
	}
	return &Matrix{Dir: dir, Cells: file.Cells, Planned: file.Planned}, nil
}

// Save writes the cells as they are.
func (m *Matrix) Save() error {
	return writeJSON(filepath.Join(m.Dir, matrixFile), MatrixFile{history.Schema, m.Planned, m.Cells})
}

// Set replaces the ith cell, and saves. It may be used from several goroutines.
func (m *Matrix) Set(i int, c checker.Cell) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Cells[i] = c
	return m.Save()
}

// RunDir is where the nth run of the ith cell of a matrix that was just created
// belongs, from 0: as a cell's Dir, and as a path.
func (m *Matrix) RunDir(i, n int) (dir, full string) {
	dir = path.Join(m.dir[i], fmt.Sprint(n+1))
	return dir, filepath.Join(m.Dir, filepath.FromSlash(dir))
}

// Run is the run that determined the cell.
func (m *Matrix) Run(c checker.Cell) (*Run, error) {
	dir := filepath.FromSlash(c.Dir)
	switch {
	case c.Dir == "":
		return nil, fmt.Errorf("rundir: %s × %s: %s", c.Algorithm, c.Fault, cmp.Or(c.Reason, NotRun))
	case !filepath.IsLocal(dir):
		return nil, fmt.Errorf("rundir: %s × %s names no directory below the matrix: %q", c.Algorithm, c.Fault, c.Dir)
	}
	return OpenRun(filepath.Join(m.Dir, dir))
}

// Runs are all runs that were begun, those of a cell in the order of their seeds. The
// errors are of those whose plan can't be read.
func (m *Matrix) Runs() (runs []*Run, damaged []error) {
	err := filepath.WalkDir(filepath.Join(m.Dir, cellsDir), func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !exists(filepath.Join(dir, planFile)) {
			return err
		}
		r, err := OpenRun(dir)
		if err != nil {
			damaged = append(damaged, err)
		} else {
			runs = append(runs, r)
		}
		return filepath.SkipDir
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		damaged = append(damaged, fmt.Errorf("rundir: %w", err))
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Compare(a.Plan.Seed, b.Plan.Seed) })
	return runs, damaged
}

// Rel is the run's directory as the Dir of a cell of the matrix.
func (m *Matrix) Rel(r *Run) (string, error) {
	rel, err := filepath.Rel(m.Dir, r.Dir)
	return filepath.ToSlash(rel), err
}

// Cell is the ith cell as it is now.
func (m *Matrix) Cell(i int) checker.Cell {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Cells[i]
}

// ReadCells reads the cells that somebody has saved: matrix.json, or what --json prints.
func ReadCells(file string) ([]checker.Cell, error) {
	var saved MatrixFile
	if err := readJSON(file, &saved); err != nil {
		return nil, err
	}
	return saved.Cells, nil
}
