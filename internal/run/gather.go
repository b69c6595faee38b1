package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// A matrix whose runs other machines do, in shards: this one plans it, takes in what they have
// recorded, and does no run itself.

// Digest is the same for two matrices if their runs are of the same plans. Another version of
// lockbench may know other locks by a pattern, or promise something else of them.
func (m *Matrix) Digest() string {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	for _, impl := range m.Algorithms {
		for _, f := range m.Faults {
			plan := m.For(impl, f, 0)
			plan.Jobs, plan.Made, plan.Machine = 0, time.Time{}, nil
			if err := enc.Encode(plan); err != nil { // which plans are made for
				panic(err)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// Plan makes the directory of the matrix, or opens it if it is there and of the same plan, and
// does no run.
func (m *Matrix) Plan(dir string) (*rundir.Matrix, error) {
	out, err := rundir.OpenMatrix(dir)
	if errors.Is(err, os.ErrNotExist) {
		return m.create(dir)
	}
	if err != nil {
		return nil, err
	}
	var was Matrix
	was.Catalog = m.Catalog
	if err := was.Again(out); err != nil {
		return nil, err
	}
	if was.Digest() != m.Digest() || was.Runs != m.Runs || was.Until != m.Until || was.Shard != m.Shard {
		return nil, fmt.Errorf("%s holds another matrix: name a directory that is new: %w", dir, os.ErrExist)
	}
	_, err = m.Gather(out)
	return out, ignoreFailed(err)
}

// Complete says what of the directory of m's own shard is missing or damaged, or nil. A run that
// failed is complete: its cell tells of it.
func (m *Matrix) Complete(out *rundir.Matrix) error {
	if err := m.fits(out); err != nil {
		return err
	}
	recorded, err := m.recorded(out)
	if err != nil {
		return err
	}
	for i, c := range out.Cells {
		if c.Outcome == lb.NotAvailable {
			continue
		}
		wanted := out.Begun(i)
		if m.Budget == 0 { // or those that there was no time for are not wanted
			for n := range m.Runs {
				if out.Has(i, n) {
					wanted = append(wanted, n)
				}
			}
		}
		for _, n := range wanted {
			if r := recorded[i][n]; r == nil {
				return fmt.Errorf("run %d of %s × %s has no plan", n+1, c.Algorithm, c.Fault)
			} else if res, err := r.Result(); err != nil {
				return fmt.Errorf("run %d of %s × %s has no result: %w", n+1, c.Algorithm, c.Fault, err)
			} else if wasInterrupted(res) {
				return fmt.Errorf("run %d of %s × %s was interrupted", n+1, c.Algorithm, c.Fault)
			}
		}
	}
	return nil
}

// fits says in what the directory is none of m, or nil.
func (m *Matrix) fits(out *rundir.Matrix) error {
	if out.Shard != m.Shard {
		return fmt.Errorf("%s is shard %q, and not %q", out.Dir, out.Shard, m.Shard)
	}
	if len(out.Cells) != len(m.Algorithms)*len(m.Faults) {
		return fmt.Errorf("%s has %d cells, and not %d", out.Dir, len(out.Cells), len(m.Algorithms)*len(m.Faults))
	}
	for i, c := range out.Cells {
		if a, f := m.Algorithms[i/len(m.Faults)].Info().Name, m.Faults[i%len(m.Faults)].Name; c.Algorithm != a || c.Fault != f {
			return fmt.Errorf("a cell of %s is %s × %s, and not %s × %s", out.Dir, c.Algorithm, c.Fault, a, f)
		}
	}
	return nil
}

// Take moves what the shard in dir has recorded into the matrix out, which has all shards and whose
// cells [Matrix.Gather] makes of it. Runs that are there already stay. It is refused whole if anything
// is missing.
func (m *Matrix) Take(out *rundir.Matrix, dir string, nth rundir.Shard) error {
	shard, err := rundir.OpenMatrix(dir)
	if err != nil {
		return err
	}
	part := *m
	part.Shard = nth
	if err := part.Complete(shard); err != nil {
		return err
	}
	runs, _ := shard.Runs() // all of which are there
	for _, r := range runs {
		if err := out.Adopt(shard, r); err != nil {
			return err
		}
	}
	for i, c := range shard.Cells {
		if c.Outcome == lb.NotAvailable && out.Cells[i].Runs == 0 { // which only the machine that runs it knows
			out.Cells[i] = c
		}
	}
	return nil
}

// Missing are runs that a matrix was to have, and has not.
type Missing struct {
	Algorithm, Fault string
	Runs             []int // from 1
}

// Missing are the planned runs of the shard that are not in the directory of all. With a
// budget they are no more than planned: if any of its runs is there, none is missing.
func (m *Matrix) Missing(out *rundir.Matrix, nth rundir.Shard) (all []Missing) {
	part := rundir.MatrixFile{Planned: m.Runs, Until: m.Until, Shard: nth}
	for i, c := range out.Cells {
		if c.Outcome == lb.NotAvailable {
			continue
		}
		one := Missing{Algorithm: c.Algorithm, Fault: c.Fault}
		begun := out.Begun(i)
		for n := range m.Runs {
			switch there := slices.Contains(begun, n); {
			case !part.Has(i, n):
			case there && m.Budget > 0:
				return nil
			case !there:
				one.Runs = append(one.Runs, n+1)
			}
		}
		if len(one.Runs) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// Gather makes the cells of all runs that are in the directory, and returns them. The error is
// of runs that failed.
func (m *Matrix) Gather(out *rundir.Matrix) ([]checker.Cell, error) {
	recorded, err := m.recorded(out)
	if err != nil {
		return nil, err
	}
	var errs []error
	results := make([]map[int]checker.Result, len(out.Cells))
	for i, runs := range recorded {
		results[i] = map[int]checker.Result{}
		for n, r := range runs {
			res, err := r.Result()
			if err != nil || wasInterrupted(res) {
				continue
			}
			results[i][n] = res
			if res.Failed {
				errs = append(errs, fmt.Errorf("%w: %s × %s, seed %d (%s): %s", ErrFailed, r.Plan.Algorithm, r.Plan.Fault, r.Plan.Seed, r.Dir, whyFailed(res)))
			}
		}
	}
	if err := m.merged(out, results); err != nil {
		return nil, err
	}
	return out.Cells, errors.Join(errs...)
}

// whyFailed is what [failed] has said of it: in place of what was seen, or beside that.
func whyFailed(res checker.Result) string {
	for _, said := range append(res.Notes, res.Reason) {
		if why, ok := strings.CutPrefix(said, runFailed); ok {
			return why
		}
	}
	return res.Reason
}

func ignoreFailed(err error) error {
	if errors.Is(err, ErrFailed) {
		return nil
	}
	return err
}

// DoShard does the runs of m's shard in a new directory. The error says what kept them from
// being done; runs that failed were.
func (m *Matrix) DoShard(ctx context.Context, dir string) error {
	_, done := m.Run(ctx, dir)
	if err := ctx.Err(); err != nil {
		return err
	}
	out, err := rundir.OpenMatrix(filepath.Clean(dir))
	if err == nil {
		err = m.Complete(out)
	}
	if err != nil {
		return errors.Join(err, done)
	}
	return nil
}
