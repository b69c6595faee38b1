package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// ErrMixed is the error of directories that can't be read as one matrix.
var ErrMixed = errors.New("can't be joined")

// Joined is several runs and matrices read as one matrix: shards of one, the same one on
// several machines, or parts of it. The Dir of a cell is a path.
type Joined struct {
	MatrixFile
	// Notes are in what the directories differ, and what of them was not counted.
	Notes []string

	runs    map[string]*Run // by their directories
	samples [][]sample      // of each cell
}

// Results are those of the runs that were counted for the ith cell, by their seeds, and
// the runs' directories.
func (j *Joined) Results(i int) (results []checker.Result, dirs []string) {
	for _, s := range j.samples[i] {
		dirs = append(dirs, s.run.Dir)
	}
	return resultsOf(j.samples[i]), dirs
}

func resultsOf(samples []sample) []checker.Result {
	results := make([]checker.Result, len(samples))
	for i, s := range samples {
		results[i] = s.res
	}
	return results
}

// Run is the run that determined the cell.
func (j *Joined) Run(c checker.Cell) (*Run, error) {
	if r, ok := j.runs[c.Dir]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("%s × %s: %s", c.Algorithm, c.Fault, cmp.Or(c.Reason, NotRun))
}

// joiner is a [Joined] in the making.
type joiner struct {
	Joined
	cells                   []*joinedCell
	differ                  differences
	same, apart, unreadable int
}

// joinedCell is one cell, with its runs from everywhere.
type joinedCell struct {
	checker.Cell
	servers servers
	seeds   map[uint64]bool // of all runs that were planned
	atLeast int             // so many were planned, where it is not said which
	raw     string          // a run that was not judged
	samples []sample
}

// sample is one run.
type sample struct {
	run *Run
	res checker.Result
}

// Join reads the directories of runs and matrices, in whatever order they are given. Runs of
// one cell must be of plans that are the same but for the seed, the lab, the length and the
// machine; those of other servers, by their version or as a user chose them, are a cell of
// their own. A run that several directories have is counted once; where they differ in what
// came of it, it is the worst. Nothing is judged again.
func Join(dirs []string) (*Joined, error) {
	j := joiner{Joined: Joined{runs: map[string]*Run{}}}
	for _, dir := range dirs {
		kind, err := Kind(dir)
		if err == nil && kind == IsMatrix {
			err = j.matrix(dir)
		} else if err == nil && kind == IsRun {
			err = j.single(dir)
		} else if err == nil {
			err = fmt.Errorf("%w: %s is %s, and only runs and matrices are joined", ErrMixed, dir, kind.One())
		}
		if err != nil {
			return nil, err
		}
	}
	j.learn()
	j.beside()
	for _, c := range j.cells {
		j.label(c)
	}
	for _, c := range j.cells {
		j.finish(c)
	}
	j.note()
	return &j.Joined, nil
}

func (j *joiner) single(dir string) error {
	r, err := OpenRun(dir)
	if err != nil {
		return err
	}
	if len(r.Plan.Order) > 0 {
		return fmt.Errorf("%w: %s is one order of an exploration, and no sample of anything: read it alone", ErrMixed, dir)
	}
	j.cell(r.Plan.Algorithm, r.Plan.Fault, serversOf(r.Plan)).seeds[r.Plan.Seed] = true
	return j.add(dir, r)
}

func (j *joiner) matrix(dir string) error {
	m, err := OpenMatrix(dir)
	if err != nil {
		return err
	}
	runs, damaged := m.Runs()
	j.unreadable += len(damaged)
	ran := map[string]servers{} // of each algorithm
	for _, r := range runs {
		ran[r.Plan.Algorithm] = serversOf(r.Plan)
	}
	for _, old := range m.Cells {
		c := j.cell(old.Algorithm, old.Fault, ran[old.Algorithm])
		group := cmp.Or(old.Group, c.Group) // an older lockbench wrote none
		if old.Outcome == lb.NotAvailable && c.Outcome == "" {
			c.Cell = old
		}
		c.Group = group
		if old.Outcome == lb.NotAvailable {
			continue
		}
		if m.Plan == nil {
			c.atLeast = max(c.atLeast, m.Planned)
			continue
		}
		for n := range m.Planned {
			c.seeds[m.Plan.Seed+uint64(n)] = true // also those of other shards
		}
	}
	j.Until = max(j.Until, m.Until)
	for _, r := range runs {
		if m.Plan == nil { // it does not say which were planned
			j.cell(r.Plan.Algorithm, r.Plan.Fault, serversOf(r.Plan)).seeds[r.Plan.Seed] = true
		}
		if err := j.add(dir, r); err != nil {
			return err
		}
	}
	return nil
}

func (j *joiner) cell(algorithm, fault string, of servers) *joinedCell {
	for _, c := range j.cells {
		if c.Algorithm == algorithm && c.Fault == fault && c.servers.alike(of) {
			c.servers.learn(of)
			return c
		}
	}
	c := &joinedCell{Cell: checker.Cell{Algorithm: algorithm, Fault: fault}, servers: of, seeds: map[uint64]bool{}}
	j.cells = append(j.cells, c)
	return c
}

// add counts a run of the directory given.
func (j *joiner) add(dir string, r *Run) error {
	algorithm, fault := r.Plan.Algorithm, r.Plan.Fault
	c := j.cell(algorithm, fault, serversOf(r.Plan))
	for _, s := range c.samples {
		if err := s.run.Plan.Same(r.Plan); err != nil {
			return fmt.Errorf("%w: %s × %s in %s and in %s: %w; make a page of each", ErrMixed, algorithm, fault, s.run.Dir, r.Dir, err)
		}
	}
	res, err := r.Result()
	if err != nil || res.Failed && res.Reason == Interrupted {
		j.unreadable++
		if errors.Is(err, fs.ErrNotExist) {
			c.raw = r.Dir
		}
		return nil
	}
	j.differ.add(dir, place{algorithm, fault}, r.Plan)
	res.Plan = r.Plan
	for i, s := range c.samples {
		if s.run.Plan.SameRun(r.Plan) != nil {
			continue
		}
		j.same++
		if s.res.Outcome != res.Outcome {
			j.apart++
		}
		if checker.DecisiveOf([]checker.Result{s.res, res}) == 1 {
			c.samples[i] = sample{r, res}
		}
		return nil
	}
	c.samples = append(c.samples, sample{r, res})
	return nil
}

// Interrupted is the reason of a run that somebody wanted to end early.
const Interrupted = "the run was interrupted"

// finish makes the cell of its runs.
func (j *joiner) finish(c *joinedCell) {
	planned := max(len(c.seeds), c.atLeast)
	cell := c.Cell
	if len(c.samples) > 0 {
		slices.SortStableFunc(c.samples, func(a, b sample) int { return cmp.Compare(a.run.Plan.Seed, b.run.Plan.Seed) })
		results := resultsOf(c.samples)
		r := c.samples[checker.DecisiveOf(results)].run
		cell = checker.CellOf(results)
		cell.Dir = filepath.ToSlash(r.Dir)
		j.runs[cell.Dir] = r
	} else if cell.Outcome != lb.NotAvailable {
		if cell = Pending(cell); c.raw != "" {
			cell.Reason = fmt.Sprintf("the run was not judged (lockbench check %s judges it)", c.raw)
		}
	}
	cell.Servers = c.Servers
	if cell.Outcome != lb.NotAvailable {
		cell.Planned = planned
		j.Planned = max(j.Planned, planned)
	}
	j.Cells, j.samples = append(j.Cells, cell), append(j.samples, c.samples)
}

// note says what a reader of the whole must know.
func (j *joiner) note() {
	for i := range j.Cells {
		if j.Cells[i].Planned == j.Planned {
			j.Cells[i].Planned = 0 // as the matrix says
		}
	}
	j.Schema = history.Schema
	j.Notes = j.differ.notes()
	if j.same > 0 {
		s := fmt.Sprintf("%s in several directories and counted once", runsAre(j.same))
		if j.apart > 0 {
			s += fmt.Sprintf("; of %d of them the outcomes differ, and the worse one counts", j.apart)
		}
		j.Notes = append(j.Notes, s+".")
	}
	if j.unreadable > 0 {
		j.Notes = append(j.Notes, fmt.Sprintf("%s not counted: interrupted, damaged, or not judged (lockbench check judges).", runsAre(j.unreadable)))
	}
}

func runsAre(n int) string {
	if n == 1 {
		return "1 run is"
	}
	return fmt.Sprintf("%d runs are", n)
}
