package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// recordedShard is the directory of a shard of m, with the runs that are only thought.
func recordedShard(t *testing.T, m *Matrix, nth rundir.Shard) string {
	t.Helper()
	part := *m
	part.Shard = nth
	dir := filepath.Join(t.TempDir(), "shard")
	out, err := part.create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Cells {
		for n := range m.Runs {
			if out.Has(i, n) && out.Cells[i].Outcome != lb.NotAvailable {
				recordRun(t, out, i, n, part.For(m.Algorithms[i/len(m.Faults)], m.Faults[i%len(m.Faults)], n))
			}
		}
	}
	return dir
}

func recordRun(t *testing.T, out *rundir.Matrix, i, n int, plan history.Plan) {
	t.Helper()
	_, dir := out.RunDir(i, n)
	r, err := rundir.CreateRun(dir, plan)
	if err == nil {
		err = r.SaveResult(thought(r.Plan))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTake: a matrix of two shards has the cells of one that was done in one piece, in whatever
// order they come, and however often.
func TestTake(t *testing.T) {
	m := threeRows(t)
	m.Runs, m.Base.Workload = 4, "counter"
	whole, err := rundir.OpenMatrix(recordedShard(t, m, rundir.Shard{}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Gather(whole)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Plan(filepath.Join(t.TempDir(), "all"))
	if err != nil {
		t.Fatal(err)
	}
	second, first := rundir.Shard{Nth: 2, Of: 2}, rundir.Shard{Nth: 1, Of: 2}
	if got := fmt.Sprint(m.Missing(out, first), m.Missing(out, second)); got != "[{safe none [1 3]} {half none [2 4]} {unclear none [1 3]}] [{safe none [2 4]} {half none [1 3]} {unclear none [2 4]}]" {
		t.Errorf("missing: %s", got)
	}
	for _, nth := range []rundir.Shard{second, first, second} {
		if err := m.Take(out, recordedShard(t, m, nth), nth); err != nil {
			t.Fatal(err)
		}
		if left := m.Missing(out, nth); left != nil {
			t.Errorf("of shard %v is missing: %v", nth, left)
		}
	}
	if _, err := m.Gather(out); err != nil {
		t.Fatal(err)
	}
	saved, err := rundir.OpenMatrix(out.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range saved.Cells {
		got, err := json.Marshal(c)
		whole, err2 := json.Marshal(want[i])
		if err := errors.Join(err, err2); err != nil || string(got) != string(whole) {
			t.Errorf("in two shards\n%s\nin one piece\n%s\n%v", got, whole, err)
		}
	}
	// It is opened again by whoever goes on with it, and by nobody who plans something else.
	if again, err := m.Plan(out.Dir); err != nil || len(again.Cells) != 3 {
		t.Errorf("opened again: %v", err)
	}
	for name, change := range map[string]func(*Matrix){
		"another seed": func(m *Matrix) { m.Base.Seed++ }, "more runs": func(m *Matrix) { m.Runs++ }, "fewer locks": func(m *Matrix) { m.Algorithms = m.Algorithms[:2] },
		"another lease": func(m *Matrix) { m.Base.TTL = time.Minute }, "a width": func(m *Matrix) { m.Until = 0.5 },
	} {
		other := *m
		change(&other)
		if _, err := other.Plan(out.Dir); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTakeRefuses: of a shard of which anything is missing or wrong nothing is taken.
func TestTakeRefuses(t *testing.T) {
	m := threeRows(t)
	m.Runs = 3
	nth := rundir.Shard{Nth: 2, Of: 3}
	for want, spoil := range map[string]func(shard *rundir.Matrix) error{
		"has no result":                    func(s *rundir.Matrix) error { return os.Remove(filepath.Join(runOf(s), "results.json")) },
		"has no plan":                      func(s *rundir.Matrix) error { return os.Remove(filepath.Join(runOf(s), "plan.json")) },
		"run 2 of safe × none has no plan": func(s *rundir.Matrix) error { return os.RemoveAll(runOf(s)) },
		"unexpected end of JSON input": func(s *rundir.Matrix) error {
			return os.WriteFile(filepath.Join(runOf(s), "results.json"), nil, 0o644)
		},
		"was interrupted": func(s *rundir.Matrix) error {
			r, err := rundir.OpenRun(runOf(s))
			if err == nil {
				err = r.SaveResult(checker.Result{Plan: r.Plan, Outcome: lb.Inconclusive, Failed: true, Reason: rundir.Interrupted})
			}
			return err
		},
		"was made by another plan": func(s *rundir.Matrix) error {
			_, dir := s.RunDir(1, 0)
			r, err := rundir.OpenRun(dir)
			if err != nil {
				return err
			}
			r.Plan.Seed += 7
			return errors.Join(os.RemoveAll(dir), second(rundir.CreateRun(dir, r.Plan)))
		},
		"and not":     func(s *rundir.Matrix) error { s.Shard.Nth = 3; return s.Save() },
		"has 2 cells": func(s *rundir.Matrix) error { s.Cells = s.Cells[:2]; return s.Save() },
		"a cell of":   func(s *rundir.Matrix) error { s.Cells[2].Algorithm = "other"; return s.Save() },
		"matrix.json": func(s *rundir.Matrix) error { return os.Remove(filepath.Join(s.Dir, "matrix.json")) },
	} {
		dir := recordedShard(t, m, nth)
		shard, err := rundir.OpenMatrix(dir)
		if err == nil {
			err = spoil(shard)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Plan(filepath.Join(t.TempDir(), "all"))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Take(out, dir, nth); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if runs, _ := out.Runs(); len(runs) > 0 {
			t.Errorf("%s: %d runs were taken", want, len(runs))
		}
	}
}

func second[T any](_ T, err error) error { return err }

// runOf is the directory of the run that shard 2 of 3 has of the first cell.
func runOf(shard *rundir.Matrix) string {
	_, dir := shard.RunDir(0, 1)
	return dir
}

// TestTakeFailed: a run that failed is taken, and told of.
func TestTakeFailed(t *testing.T) {
	m := threeRows(t)
	m.Runs = 1
	nth := rundir.Shard{Nth: 1, Of: 1}
	dir := recordedShard(t, m, nth)
	shard, err := rundir.OpenMatrix(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, at := shard.RunDir(1, 0)
	r, err := rundir.OpenRun(at)
	if err == nil {
		err = r.SaveResult(failed(r.Plan, errors.New("no room")))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Plan(filepath.Join(t.TempDir(), "all"))
	if err == nil {
		err = m.Take(out, dir, nth)
	}
	if err != nil {
		t.Fatal(err)
	}
	cells, err := m.Gather(out)
	_, moved := out.RunDir(1, 0)
	if want := fmt.Sprintf("run failed: half × none, seed 100 (%s): no room", moved); !errors.Is(err, ErrFailed) || err.Error() != want || cells[1].Failed != 1 {
		t.Errorf("%v, and not %s\n%+v", err, want, cells[1])
	}
}

// TestTakeNotAvailable: what a lock lacks is for the machine to say that runs it.
func TestTakeNotAvailable(t *testing.T) {
	m := threeRows(t)
	m.Runs = 2
	there := *m
	there.Algorithms = slices.Clone(m.Algorithms)
	there.Algorithms[1] = lacking{m.Algorithms[1]}
	there.Catalog.Locks = there.Algorithms
	nth := rundir.Shard{Nth: 1, Of: 1}
	out, err := m.Plan(filepath.Join(t.TempDir(), "all"))
	if err == nil {
		err = m.Take(out, recordedShard(t, &there, nth), nth)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c := out.Cells[1]; c.Outcome != lb.NotAvailable || c.Reason != "no snake" {
		t.Errorf("%+v", c)
	}
	if left := m.Missing(out, nth); left != nil {
		t.Errorf("missing: %v", left)
	}
	// And this machine, which runs nothing, need not have it.
	elsewhere := there
	elsewhere.Catalog = there.Catalog.Elsewhere()
	elsewhere.Algorithms = elsewhere.Catalog.Locks
	if c := elsewhere.planned(elsewhere.Algorithms[1], m.Faults[0]); c.Outcome == lb.NotAvailable {
		t.Errorf("planned for elsewhere: %+v", c)
	}
	if there.Digest() != elsewhere.Digest() || there.Digest() == m.Digest() {
		t.Errorf("digests: %s there, %s elsewhere, %s of another", there.Digest(), elsewhere.Digest(), m.Digest())
	}
}

// lacking is a program whose language is not there.
type lacking struct{ lb.Impl }

func (l lacking) Info() lb.Info {
	i := l.Impl.Info()
	i.Program = true
	return i
}
func (lacking) Ready() error { return errors.New("no snake") }

// TestBudgetLeavesRunsOut: with a budget a shard is complete with the runs that it had time for.
func TestBudgetLeavesRunsOut(t *testing.T) {
	m := threeRows(t)
	m.Runs, m.Budget = 2, time.Minute
	nth := rundir.Shard{Nth: 1, Of: 2}
	dir := recordedShard(t, m, nth)
	shard, err := rundir.OpenMatrix(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, at := shard.RunDir(0, 0)
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	out, err := m.Plan(filepath.Join(t.TempDir(), "all"))
	if err != nil {
		t.Fatal(err)
	}
	if left := m.Missing(out, nth); len(left) != 3 {
		t.Errorf("before: %v", left)
	}
	if err := m.Take(out, dir, nth); err != nil {
		t.Fatal(err)
	}
	if left := m.Missing(out, nth); left != nil {
		t.Errorf("after: %v", left)
	}
}
