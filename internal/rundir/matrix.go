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
	"strconv"
	"strings"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// NotRun is the reason of a cell of which no run has been done (yet).
const NotRun = "not run"

// IsPending reports whether the cell is planned, but has no run here: the matrix was interrupted, or still goes on, or
// another shard has it.
func IsPending(c *checker.Cell) bool {
	return c.Outcome == lb.Inconclusive && c.Runs == 0 && (c.Reason == NotRun || c.Reason == Elsewhere)
}

// Matrix is the directory of many runs.
type Matrix struct {
	Dir string
	MatrixFile

	mu  sync.Mutex
	dir []string // of each cell's runs, with slashes
}

// MatrixFile is matrix.json, and what --json prints.
type MatrixFile struct {
	Schema int `json:"schema"`
	// Planned is how many runs each cell was to have, at least.
	Planned int `json:"planned_runs,omitempty"`
	// Until is how narrow the interval of each cell's [checker.Share] was to become by
	// more runs; 0 where that was not asked for.
	Until float64 `json:"until,omitempty"`
	// Shard is the part of the plan that is done here.
	Shard Shard `json:"shard,omitzero"`
	// ForGate says that a gate had it done.
	ForGate bool `json:"for_gate,omitempty"`
	// Plan is that of every run, save for what differs from cell to cell. Its seed is that
	// of each cell's first run, and later runs count up from it, whoever does them. Older
	// matrices have none.
	Plan *history.Plan `json:"plan,omitempty"`
	// Cells are all that were planned, in their order: algorithm by algorithm. One without
	// runs is INCONCLUSIVE, with the reason [NotRun] or [Elsewhere], unless the fault has
	// no meaning there.
	Cells []checker.Cell `json:"cells"`
}

// CreateMatrix makes the directory of a matrix, of which the algorithm and the fault
// of each cell are given. There may be other files in it, but no matrix and no run.
func CreateMatrix(dir string, planned []checker.Cell, runs int) (*Matrix, error) {
	for _, file := range []string{matrixFile, planFile} {
		if exists(filepath.Join(dir, file)) {
			return nil, fmt.Errorf("a matrix never writes over another, or over a run: %s: %w", filepath.Join(dir, file), fs.ErrExist)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	m := newMatrix(dir, MatrixFile{Planned: runs, Cells: slices.Clone(planned)})
	for i, c := range m.Cells {
		if c.Outcome == "" {
			m.Cells[i] = Pending(c)
		}
	}
	return m, m.Save()
}

// newMatrix names the directories of the cells' runs: always alike for the same cells.
func newMatrix(dir string, file MatrixFile) *Matrix {
	m := &Matrix{Dir: dir, MatrixFile: file}
	var algorithms, faults names
	for _, c := range m.Cells {
		m.dir = append(m.dir, path.Join(cellsDir, algorithms.name(c.Algorithm), faults.name(c.Fault)))
	}
	return m
}

// Pending is the cell as long as none of its runs has been done.
func Pending(c checker.Cell) checker.Cell {
	return checker.Cell{Algorithm: c.Algorithm, Group: c.Group, Fault: c.Fault, Outcome: lb.Inconclusive, Reason: NotRun,
		Planned: c.Planned, Copies: map[string]checker.Copy{}, OutageMS: -1, FirstViolationMS: -1, Seed: c.Seed}
}

// OpenMatrix reads a matrix, also one that is not finished.
func OpenMatrix(dir string) (*Matrix, error) {
	var file MatrixFile
	if err := readJSON(filepath.Join(dir, matrixFile), &file); err != nil {
		return nil, err
	}
	return newMatrix(dir, file), nil
}

// Save writes the cells as they are.
func (m *Matrix) Save() error {
	m.Schema = history.Schema
	return writeJSON(filepath.Join(m.Dir, matrixFile), m.MatrixFile)
}

// Set replaces the ith cell, and saves. It may be used from several goroutines.
func (m *Matrix) Set(i int, c checker.Cell) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Cells[i] = c
	return m.Save()
}

// RunDir is where the nth run of the ith cell belongs, from 0: as a cell's Dir, and as a
// path.
func (m *Matrix) RunDir(i, n int) (dir, full string) {
	dir = path.Join(m.dir[i], fmt.Sprint(n+1))
	return dir, filepath.Join(m.Dir, filepath.FromSlash(dir))
}

// Run is the run that determined the cell.
func (m *Matrix) Run(c checker.Cell) (*Run, error) {
	dir := filepath.FromSlash(c.Dir)
	switch {
	case c.Dir == "":
		return nil, fmt.Errorf("%s × %s: %s", c.Algorithm, c.Fault, cmp.Or(c.Reason, NotRun))
	case !filepath.IsLocal(dir):
		return nil, fmt.Errorf("%s × %s names no directory below the matrix: %q", c.Algorithm, c.Fault, c.Dir)
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
		damaged = append(damaged, err)
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Compare(a.Plan.Seed, b.Plan.Seed) })
	return runs, damaged
}

// Place is the inverse of [Matrix.RunDir]: which run of which cell it is, from 0.
func (m *Matrix) Place(r *Run) (cell, n int, err error) {
	dir, err := m.Rel(r)
	if err != nil {
		return 0, 0, err
	}
	cell = slices.Index(m.dir, path.Dir(dir))
	nth, err := strconv.Atoi(path.Base(dir))
	if cell < 0 || err != nil || nth < 1 {
		return 0, 0, fmt.Errorf("%s is no run of a cell of %s", r.Dir, m.Dir)
	}
	return cell, nth - 1, nil
}

// Begun are the numbers, from 0, of the runs of the ith cell that have a directory.
func (m *Matrix) Begun(i int) (numbers []int) {
	entries, _ := os.ReadDir(filepath.Join(m.Dir, filepath.FromSlash(m.dir[i]))) // none, if no run was begun
	for _, e := range entries {
		if nth, err := strconv.Atoi(e.Name()); err == nil && nth > 0 {
			numbers = append(numbers, nth-1)
		}
	}
	return numbers
}

// SetAside moves the nth run of the ith cell, from 0, out of the way of a new one: what
// was recorded is never thrown away.
func (m *Matrix) SetAside(i, n int) error {
	dir, full := m.RunDir(i, n)
	for k := 1; k < 1000; k++ {
		to := filepath.Join(m.Dir, asideDir, filepath.FromSlash(strings.TrimPrefix(dir, cellsDir+"/")), fmt.Sprint(k))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(full, to); err != nil {
			return err
		}
		return nil
	}
	return fmt.Errorf("%s was set aside too often: clear %s", full, filepath.Join(m.Dir, asideDir))
}

// Adopt moves a run of another matrix of the same cells to where it belongs in this one. A run
// that is there already stays.
func (m *Matrix) Adopt(of *Matrix, r *Run) error {
	i, n, err := of.Place(r)
	if err != nil {
		return err
	}
	_, full := m.RunDir(i, n)
	if _, err := os.Lstat(full); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.Rename(r.Dir, full)
}

// Incoming is where directories of shards lie until their runs are adopted.
func (m *Matrix) Incoming() string { return filepath.Join(m.Dir, incomingDir) }

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
