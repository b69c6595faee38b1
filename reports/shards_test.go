package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// size is that of a matrix.
type size struct{ locks, faults, runs, shards int }

// sharded makes the directories of all shards of a matrix. A third of its cells broke; only the first run of a cell has a history.
func (s size) sharded(t testing.TB) (dirs []string) {
	t.Helper()
	of, found := crowded(t, filepath.Join(t.TempDir(), "run"), 100, true)
	var planned []checker.Cell
	for i := range s.locks * s.faults {
		planned = append(planned, checker.Cell{Algorithm: fmt.Sprint("lock-", i/s.faults), Fault: fmt.Sprint("fault-", i%s.faults)})
	}
	for k := range s.shards {
		m, err := rundir.CreateMatrix(filepath.Join(t.TempDir(), fmt.Sprint("shard-", k+1)), planned, s.runs)
		if err != nil {
			t.Fatal(err)
		}
		m.Shard, m.Plan = rundir.Shard{Nth: k + 1, Of: s.shards}, &of.Plan
		for i, c := range planned {
			var results []checker.Result
			for n := range s.runs {
				if !m.Has(i, n) {
					continue
				}
				plan := of.Plan
				plan.Algorithm, plan.Fault, plan.Seed = c.Algorithm, c.Fault, of.Plan.Seed+uint64(n)
				res := checker.Result{Plan: plan, Outcome: lb.Safe, OutageMS: 12}
				if i%3 == 0 {
					res = checker.Result{Plan: plan, Outcome: lb.Broken, Mechanism: lb.DoubleGrant, Reason: lb.DoubleGrant + ": " + found[0].Sentence,
						Layers: []checker.Layer{{Name: "belief", Verdict: checker.Invalid, Findings: found[:1], Count: 1}}}
				}
				dir, full := m.RunDir(i, n)
				r, err := rundir.CreateRun(full, plan)
				if err == nil {
					err = r.SaveResult(res)
				}
				if err == nil && n == 0 {
					err = os.CopyFS(filepath.Join(full, "events"), os.DirFS(filepath.Dir(of.EventsFile(rundir.Runner))))
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(results) == 0 {
					m.Cells[i].Dir = dir
				}
				results = append(results, res)
			}
			if len(results) > 0 {
				dir := m.Cells[i].Dir
				m.Cells[i] = checker.CellOf(results)
				m.Cells[i].Dir = dir
			}
		}
		if err := m.Save(); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, m.Dir)
	}
	return dirs
}

// TestPageOfShards: a matrix as large as somebody may want it (20 runs and more of every cell) in as many shards as a cluster
// may do is one page, in the time that reading it takes.
func TestPageOfShards(t *testing.T) {
	s := size{locks: 9, faults: 8, runs: 6, shards: 5}
	if testkit.All() {
		testkit.Share(t, 2)
		s = size{locks: 81, faults: 36, runs: 34, shards: 100}
	}
	dirs := s.sharded(t)
	begun := time.Now()
	page, err := Joined(dirs, filepath.Join(t.TempDir(), "all.html"))
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	info, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	j, err := rundir.Join(dirs)
	if err != nil {
		t.Fatal(err)
	}
	runs, broken := 0, 0
	for _, c := range j.Cells {
		runs += c.Runs
		if c.Outcome == lb.Broken {
			broken++
		}
	}
	if cells := s.locks * s.faults; len(j.Cells) != cells || runs != cells*s.runs || broken != cells/3 || len(j.Notes) > 0 {
		t.Errorf("%d cells, of which %d broke, %d runs, %q; want %+v", len(j.Cells), broken, runs, j.Notes, s)
	}
	t.Logf("%d runs of %d cells in %d shards: a page of %d KB in %v", runs, len(j.Cells), s.shards, info.Size()/1000, took.Round(time.Millisecond))
	if most := 10*time.Second + time.Duration(runs)*5*time.Millisecond; took > most {
		t.Errorf("the page took %v, and may take %v", took, most)
	}
}
