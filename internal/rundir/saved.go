package rundir

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
)

// Saved are cells as they were once, a benchmark, or both, and what is known of the plans of
// the cells' runs.
type Saved struct {
	Cells []checker.Cell
	// Planned is how many runs each cell was to have, 0 where nobody said.
	Planned int
	// Bench is nil where nothing was measured.
	Bench *cost.Bench

	plans map[place]history.Plan // of one run of each cell
	// all is what a saved matrix says of every run, nil where nothing is known.
	all *history.Plan
}

type place struct{ algorithm, fault string }

// OpenSaved reads the cells and the benchmark of a directory, or one of them of a file:
// matrix.json, bench.json, or what --json prints.
func OpenSaved(name string) (Saved, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Saved{}, err
	}
	if !info.IsDir() {
		return openFile(name)
	}
	what, err := Kind(name)
	if err != nil {
		return Saved{}, err
	}
	var s Saved
	if what == IsMatrix || what == IsRun {
		if s, err = openCells(name, what); err != nil {
			return Saved{}, err
		}
	}
	b, err := OpenBench(name)
	switch {
	case err == nil:
		s.Bench = b.Bench
	case !errors.Is(err, fs.ErrNotExist):
		return Saved{}, err
	case what == IsQuorum:
		return Saved{}, Absent("%s is %s: it holds neither cells nor a benchmark", name, what.One())
	}
	return s, nil
}

func openFile(name string) (Saved, error) {
	var of struct {
		Rounds *int            `json:"rounds_done"` // which only a benchmark has
		Cells  json.RawMessage `json:"cells"`
	}
	if err := readJSON(name, &of); err != nil {
		return Saved{}, err
	}
	if of.Rounds != nil {
		var b cost.Bench
		err := readJSON(name, &b)
		return Saved{Bench: &b}, err
	}
	if of.Cells == nil {
		return Saved{}, fmt.Errorf("%s holds neither cells nor a benchmark: name matrix.json, bench.json, what --json of matrix, gate, run or bench has printed, or a directory", name)
	}
	var file MatrixFile
	err := readJSON(name, &file)
	return Saved{Cells: file.Cells, Planned: file.Planned, all: file.Plan}, err
}

func openCells(name string, what What) (Saved, error) {
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

// Lock is what is known of one lock, named as a row of the matrix is, with that name replaced by
// another. What it promises is left out: another lock promises something else. An error says which
// locks there are.
func (s Saved) Lock(name, as string) (Saved, error) {
	one, found, all := Saved{Planned: s.Planned, all: s.all, plans: map[place]history.Plan{}}, false, []string{}
	for _, c := range s.Cells {
		if all = append(all, c.Row()); c.Row() != name {
			continue
		}
		if p, ok := s.plans[place{c.Algorithm, c.Fault}]; ok {
			one.plans[place{as, c.Fault}] = p
		}
		c.Algorithm, c.Servers, c.Promise, c.Expected, found = as, "", "", "", true
		one.Cells = append(one.Cells, c)
	}
	if s.Bench != nil {
		b := *s.Bench
		b.Cells = nil
		for _, c := range s.Bench.Cells {
			if all = append(all, c.Algorithm); c.Algorithm == name {
				renamed := *c
				renamed.Algorithm, found = as, true
				b.Cells = append(b.Cells, &renamed)
			}
		}
		one.Bench = &b
	}
	if !found {
		slices.Sort(all)
		return Saved{}, fmt.Errorf("there is no lock %q%s", name, english.Near(name, slices.Compact(all)))
	}
	return one, nil
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
	p.TTL, p.Work = cmp.Or(p.TTL, other.TTL), cmp.Or(p.Work, other.Work)
	return p
}

// Servers are those of the cells' runs that the other has not, with their versions; none where nobody knows those of the other.
func (s Saved) Servers(o Saved) (all []string) {
	if len(o.plans) == 0 {
		return nil
	}
	theirs := map[string]bool{"": true}
	for _, p := range o.plans {
		theirs[p.Server()] = true
	}
	for _, p := range s.plans {
		if name := p.Server(); !theirs[name] && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Differ says in sentences in what the plans of cells differ that both have, and where they
// ran, and the benchmarks, so that a change between them need not be one of the lock. Names are those of
// the two.
func (s Saved) Differ(o Saved, name, otherName string) (notes []string) {
	var all []history.Difference // each once
	cells := map[history.Difference]int{}
	both := 0
	var ran differences
	for _, c := range s.Cells {
		if !slices.ContainsFunc(o.Cells, func(d checker.Cell) bool { return c.Algorithm == d.Algorithm && c.Fault == d.Fault }) {
			continue
		}
		both++
		at := place{c.Algorithm, c.Fault}
		if p, ok := s.plans[at]; ok {
			ran.add(name, at, p)
		}
		if p, ok := o.plans[at]; ok {
			ran.add(otherName, at, p)
		}
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
			where = fmt.Sprintf(" (%d of %s)", cells[d], english.Count(both, "cell"))
		}
		notes = append(notes, notSame(d, name, otherName, where))
	}
	return append(notes, s.differ(o, ran, name, otherName)...)
}

func notSame(d history.Difference, name, otherName, where string) string {
	return fmt.Sprintf("The %s is not the same: %s in %s, %s in %s%s.", d.What, d.A, name, d.B, otherName, where)
}

// differ says in what the benchmarks differ beside the locks, and what disturbed them; d is
// where the cells ran.
func (s Saved) differ(o Saved, d differences, name, otherName string) (notes []string) {
	if s.Bench == nil || o.Bench == nil {
		return d.notes()
	}
	a, b := s.Bench.Plan, o.Bench.Plan
	for _, d := range (history.Plan{TTL: a.TTL}).Settings(history.Plan{TTL: b.TTL}) {
		notes = append(notes, notSame(d, name, otherName, ""))
	}
	if a.Rate != b.Rate && a.Rate*b.Rate > 0 {
		notes = append(notes, notSame(history.Difference{What: "rate of the open loop", A: fmt.Sprintf("%v/s", a.Rate), B: fmt.Sprintf("%v/s", b.Rate)}, name, otherName, ""))
	}
	if x, y := cost.At(s.Bench.Sync, .5), cost.At(o.Bench.Sync, .5); x > 0 && y > 0 && max(x, y) > 2*min(x, y) {
		notes = append(notes, notSame(history.Difference{What: "disk", A: fmt.Sprintf("a write with fdatasync takes %v", x), B: y.String()}, name, otherName, ""))
	}
	d.add(name, place{}, history.Plan{Lab: a.Lab, Machine: a.Machine, Versions: a.Versions})
	d.add(otherName, place{}, history.Plan{Lab: b.Lab, Machine: b.Machine, Versions: b.Versions})
	notes = append(notes, d.notes()...)
	for _, of := range []struct {
		name  string
		bench *cost.Bench
	}{{name, s.Bench}, {otherName, o.Bench}} {
		if len(of.bench.Noise) > 0 {
			notes = append(notes, fmt.Sprintf("The machine was not quiet in %s: %s.", of.name, strings.Join(of.bench.Noise, "; ")))
		}
		if !of.bench.Done() {
			notes = append(notes, fmt.Sprintf("The benchmark of %s was interrupted: %d of %d rounds were done.", of.name, of.bench.Rounds, of.bench.Plan.Rounds))
		}
	}
	return notes
}
