package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
)

// state is what became of what a directory was made for.
type state string

const (
	done        state = "done"
	running     state = "running"
	interrupted state = "interrupted" // neither finished nor going on
	failed      state = "failed"
	damaged     state = "damaged"
	unknown     state = "unknown" // it holds nothing that lockbench made, or lacks the file that says so, or has no page
)

// entry is what the list says of a directory.
type entry struct {
	Name  string // below the served one, with slashes
	Kinds []string
	What  string // the locks and the faults
	When  time.Time
	State state
	// Progress is how far it is, and Error why it is not all there.
	Progress []string
	Chips    []reports.Chip
	Note     string
	Error    string

	tally tally // for metrics
	stamp string
	last  time.Time // when something was written
}

// read looks into a directory.
func read(name, dir string) *entry {
	e := &entry{Name: name, State: done}
	e.stamp, e.last = rundir.Stamp(dir)
	e.When = e.last
	if info, err := os.Stat(dir); err == nil && e.When.IsZero() {
		e.When = info.ModTime()
	}
	held := rundir.Held(dir)
	e.stamp += fmt.Sprint(held)
	kind, err := rundir.Kind(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && held:
		e.Note, err = "it tells what it is when it is done", nil
	case errors.Is(err, fs.ErrNotExist):
		e.State, e.Error, err = unknown, err.Error(), nil
	case kind == rundir.IsRun:
		e.Kinds = []string{string(kind)}
		err = e.run(dir)
	case kind == rundir.IsMatrix:
		e.Kinds = []string{string(kind)}
		err = e.matrix(dir)
	case kind == rundir.IsExplored:
		e.Kinds = []string{string(kind)}
		err = e.explored(dir)
	}
	if err == nil && e.State != unknown {
		err = errors.Join(e.bench(dir), e.study(dir))
	}
	switch {
	case err != nil:
		e.State, e.Error = damaged, err.Error()
	case held:
		e.State = running // before it has written anything, too
	}
	e.Error = strings.ReplaceAll(e.Error, dir, name)
	return e
}

func (e *entry) run(dir string) error {
	r, err := rundir.OpenRun(dir)
	if err != nil {
		return err
	}
	e.When, e.What = r.Plan.Made, r.Plan.Algorithm+" × "+r.Plan.Fault
	res, err := r.Result()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.State, e.Note = interrupted, "it was not judged"
		return nil
	case err != nil:
		return err
	case strings.HasPrefix(res.Reason, rundir.Interrupted):
		e.State = interrupted
		return nil
	case res.Failed:
		e.State = failed
	}
	res.Plan = r.Plan
	c := checker.CellOf([]checker.Result{res})
	e.Chips, e.Note = reports.Chips([]checker.Cell{c}), c.Mechanism
	e.tally = tallyOf([]checker.Cell{c})
	if e.State == failed {
		e.Note = c.Reason
	}
	return nil
}

func (e *entry) matrix(dir string) error {
	m, err := rundir.OpenMatrix(dir)
	if err != nil {
		return err
	}
	if m.ForGate {
		e.Kinds[0] = "gate"
	}
	if m.Shard.Of > 0 {
		e.Kinds[0] += ", shard " + m.Shard.String()
	}
	e.When = begun(m, e.When)
	var locks, faults []string
	ran, planned, lack := 0, 0, 0
	for i, c := range m.Cells {
		locks, faults = append(locks, c.Algorithm), append(faults, c.Fault)
		if c.Outcome != lb.NotAvailable {
			ran, planned = ran+c.Runs, planned+m.PlannedOf(i)
			lack += max(0, m.PlannedOf(i)-c.Runs)
		}
	}
	e.What = some(locks, "lock", "locks") + " × " + some(faults, "fault", "faults")
	e.Chips, e.tally = reports.Chips(m.Cells), tallyOf(m.Cells)
	if lack > 0 {
		e.State = interrupted
	}
	e.progress(ran, planned, "run")
	return nil
}

func (e *entry) explored(dir string) error {
	all, err := rundir.ExploredIn(dir)
	if err != nil {
		return err
	}
	var locks []string
	orders := 0
	for _, x := range all {
		locks = append(locks, x.Plan.Algorithm)
		orders += x.Orders()
		if x.Interrupted {
			e.State = interrupted
		}
	}
	e.What = some(locks, "lock", "locks")
	e.progress(orders, orders, "order")
	return nil
}

// begun is when the matrix was begun, as far as it says so: where an older lockbench made it,
// one of its first runs does.
func begun(m *rundir.Matrix, otherwise time.Time) time.Time {
	if m.Plan != nil && !m.Plan.Made.IsZero() {
		return m.Plan.Made
	}
	for _, c := range m.Cells {
		if r, err := m.Run(c); err == nil {
			return r.Plan.Made
		}
	}
	return otherwise
}

func (e *entry) bench(dir string) error {
	b, err := rundir.OpenBench(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e.Kinds = append(e.Kinds, string(rundir.IsBench))
	if err != nil {
		return err
	}
	if p := b.Bench.Plan; e.What == "" {
		e.What, e.When = some(p.Algorithms, "lock", "locks"), p.Made
	}
	if b.Bench.Rounds < b.Bench.Plan.Rounds {
		e.State = interrupted
	}
	e.progress(b.Bench.Rounds, b.Bench.Plan.Rounds, "round")
	return nil
}

func (e *entry) study(dir string) error {
	study, err := rundir.OpenQuorum(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e.Kinds = append(e.Kinds, string(rundir.IsQuorum))
	if err != nil {
		return err
	}
	var kinds []string
	for _, s := range study.Ensembles {
		kinds = append(kinds, s.Kind)
	}
	e.What = cmp.Or(e.What, some(kinds, "lock service", "lock services"))
	if n := len(study.Missing); n > 0 {
		e.State = failed
		if strings.Contains(strings.Join(study.Missing, "\n"), context.Canceled.Error()) {
			e.State = interrupted
		}
		e.progress(len(study.Ensembles), len(study.Ensembles)+n, "ensemble")
	}
	return nil
}

// progress says how much is done. It may be more than was planned: until it suffices.
func (e *entry) progress(n, of int, noun string) {
	says := english.Count(n, noun)
	if n < of {
		says = fmt.Sprintf("%d of %s", n, english.Count(of, noun))
	}
	e.Progress = append(e.Progress, says)
}

// some are the first of the names, each once, and how many more there are.
func some(names []string, one, many string) string {
	const few = 3
	var once []string
	for _, n := range names {
		if !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	if more := len(once) - few; more > 1 {
		return fmt.Sprintf("%s and %d more %s", strings.Join(once[:few], ", "), more, many)
	}
	return cmp.Or(strings.Join(once, ", "), "no "+one)
}
