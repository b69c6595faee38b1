package rundir

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// written makes the directory of a run with a result.
func written(t *testing.T, dir string, p history.Plan, o lb.Outcome) string {
	t.Helper()
	r, err := CreateRun(dir, p)
	ok(t, err)
	res := checker.Result{Plan: r.Plan, Outcome: o, Reason: "because", OutageMS: -1, FirstViolationMS: -1}
	if o == "" {
		res.Outcome, res.Reason, res.Failed = lb.Inconclusive, Interrupted, true
	}
	ok(t, r.SaveResult(res))
	return dir
}

func joinPlan(seed uint64) history.Plan {
	return history.Plan{Algorithm: "A", Fault: "f", Lab: "local", TTL: time.Second, Duration: time.Second, Seed: seed,
		Machine: &history.Machine{System: "linux/amd64", Cores: 2}, Versions: map[string]string{"go": "go1.26.0"}}
}

// TestJoin: shards and runs from elsewhere are one cell, in the order of their seeds; what
// several have is counted once and at its worst; what is not the same is said.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	shard := func(nth int, outcomes map[int]lb.Outcome) string {
		m, err := CreateMatrix(filepath.Join(dir, "s"+string(rune('0'+nth))), []checker.Cell{{Algorithm: "A", Fault: "f"},
			{Algorithm: "B", Fault: "f", Outcome: lb.NotAvailable, Reason: "no step"}}, 4)
		ok(t, err)
		base := joinPlan(10)
		m.Plan, m.Shard = &base, Shard{nth, 2}
		ok(t, m.Save())
		for n, o := range outcomes {
			_, full := m.RunDir(0, n)
			p := joinPlan(10 + uint64(n))
			if nth == 2 {
				p.Machine = &history.Machine{System: "linux/arm64", Cores: 8}
			}
			written(t, full, p, o)
		}
		return m.Dir
	}
	one := shard(1, map[int]lb.Outcome{0: lb.Safe, 2: lb.Safe})
	two := shard(2, map[int]lb.Outcome{1: lb.Check, 3: ""})
	again := written(t, filepath.Join(dir, "again"), joinPlan(12), lb.Broken)

	j, err := Join([]string{two, one})
	ok(t, err)
	c := j.Cells[0]
	if c.Outcome != lb.Check || c.Runs != 3 || c.Seed != 11 || j.Planned != 4 || c.Planned != 0 || c.Share.Broke != 1 || c.Share.Of != 3 {
		t.Errorf("the cell %+v of %d runs planned, share %v", c, j.Planned, c.Share)
	}
	if len(j.Cells) != 2 || j.Cells[1].Outcome != lb.NotAvailable {
		t.Errorf("cells %+v", j.Cells)
	}
	if r, err := j.Run(c); err != nil || r.Plan.Seed != 11 {
		t.Errorf("its run: %+v, %v", r, err)
	}
	said := strings.Join(j.Notes, "\n")
	for _, want := range []string{"The machine is not the same everywhere: linux/arm64, 8 cores in " + two + "; linux/amd64, 2 cores in " + one + ".", "1 run is not counted: interrupted"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if strings.Contains(said, "version") || strings.Contains(said, "lab") {
		t.Errorf("what is the same: %s", said)
	}

	for _, dirs := range [][]string{{one, two, again}, {again, two, one}} {
		j, err := Join(dirs)
		ok(t, err)
		c := j.Cells[slices.IndexFunc(j.Cells, func(c checker.Cell) bool { return c.Algorithm == "A" })]
		if c.Outcome != lb.Broken || c.Runs != 3 || c.Seed != 12 || c.Share.Broke != 2 {
			t.Errorf("%v: %+v", dirs, c)
		}
		if !strings.Contains(strings.Join(j.Notes, "\n"), "1 run is in several directories and counted once; of 1 of them the outcomes differ, and the worse one counts.") {
			t.Errorf("%q", j.Notes)
		}
	}
	other := joinPlan(99)
	other.TTL = time.Minute
	if _, err := Join([]string{one, written(t, filepath.Join(dir, "other"), other, lb.Safe)}); !errors.Is(err, ErrMixed) || !strings.Contains(err.Error(), "the TTL is 1s and 1m0s") {
		t.Errorf("another TTL: %v", err)
	}
	// One shard alone lacks what the other has.
	if j, err = Join([]string{one, one}); err != nil || j.Planned != 4 || j.Cells[0].Runs != 2 {
		t.Errorf("one twice: %+v, %v", j.Cells, err)
	}
}

// TestLengthsDiffer: how long a run is goes with the lock and the fault, so that it is told where the runs of one cell differ, and
// not where directories have other cells, or a run that is not counted.
func TestLengthsDiffer(t *testing.T) {
	run := func(fault string, seed uint64, length time.Duration, o lb.Outcome) string {
		p := joinPlan(seed)
		p.Fault, p.Duration = fault, length
		return written(t, filepath.Join(t.TempDir(), "run"), p, o)
	}
	short := run("f", 1, time.Second, lb.Safe)
	for name, other := range map[string]string{
		"the same":    run("f", 2, time.Second, lb.Safe),
		"not counted": run("f", 2, time.Minute, ""),
		"other cells": run("g", 2, time.Minute, lb.Safe),
	} {
		if j, err := Join([]string{short, other}); err != nil || strings.Contains(strings.Join(j.Notes, "\n"), "length") {
			t.Errorf("%s: %v, %q", name, err, j.Notes)
		}
	}
	long := run("f", 2, time.Minute, lb.Safe)
	if j, err := Join([]string{short, long}); err != nil || !slices.Contains(j.Notes, "The length of a run is not the same everywhere: 1s in "+short+"; 1m0s in "+long+".") {
		t.Errorf("%v, %q", err, j.Notes)
	}
	both, err := CreateMatrix(filepath.Join(t.TempDir(), "m"), []checker.Cell{{Algorithm: "A", Fault: "f"}, {Algorithm: "A", Fault: "g"}}, 1)
	ok(t, err)
	for i, length := range []time.Duration{time.Second, time.Minute} {
		_, dir := both.RunDir(i, 0)
		p := joinPlan(1)
		p.Fault, p.Duration = both.Cells[i].Fault, length
		written(t, dir, p, lb.Safe)
	}
	base, err := OpenSaved(short)
	ok(t, err)
	head, err := OpenSaved(both.Dir)
	ok(t, err)
	base.Cells = append(base.Cells, checker.Cell{Algorithm: "A", Fault: "g", Outcome: lb.NotAvailable}) // there it was not run
	if notes := base.Differ(head, "base", "head"); len(notes) > 0 {
		t.Errorf("compared, and all that both have run is the same: %q", notes)
	}
}

// TestAside: what is run anew destroys nothing.
func TestAside(t *testing.T) {
	m := aMatrix(t, 2, checker.Cell{Algorithm: "A", Fault: "f"})
	for range 2 {
		_, full := m.RunDir(0, 1)
		_, err := CreateRun(full, joinPlan(1))
		ok(t, err)
		if begun := m.Begun(0); !slices.Equal(begun, []int{1}) {
			t.Errorf("begun: %v", begun)
		}
		ok(t, m.SetAside(0, 1))
	}
	if kept, _ := filepath.Glob(filepath.Join(m.Dir, asideDir, "a", "f", "2", "*", planFile)); len(kept) != 2 || m.Begun(0) != nil {
		t.Errorf("set aside: %v", kept)
	}
	if runs, damaged := m.Runs(); len(runs)+len(damaged) > 0 {
		t.Errorf("runs: %v, %v", runs, damaged)
	}
}

// TestJoinServers: runs of other servers are cells of their own, which say so in the fewest
// words; of servers that nobody knows, one cell.
func TestJoinServers(t *testing.T) {
	plan := func(algorithm, version, image string, seed uint64) history.Plan {
		p := joinPlan(seed)
		if p.Algorithm, p.ServerImage = algorithm, image; version != "" {
			p.Versions["etcd"] = "etcd Version: " + version
		}
		return p
	}
	for name, c := range map[string]struct {
		plans []history.Plan
		want  []string
	}{
		"two versions":     {[]history.Plan{plan("A", "3.4.23", "", 1), plan("A", "3.7.3", "", 1)}, []string{"A (etcd 3.4.23): 1", "A (etcd 3.7.3): 1"}},
		"and their images": {[]history.Plan{plan("A", "3.4.23", "etcd=a", 1), plan("A", "3.7.3", "etcd=b", 1)}, []string{"A (etcd 3.4.23): 1", "A (etcd 3.7.3): 1"}},
		"one version":      {[]history.Plan{plan("A", "3.4.23", "", 1), plan("A", "3.4.23", "", 2)}, []string{"A: 2"}},
		"one of two images": {[]history.Plan{plan("A", "3.4.23", "", 1), plan("A", "3.4.23", "etcd=b", 1)},
			[]string{"A (etcd 3.4.23 as installed): 1", "A (etcd 3.4.23 etcd=b): 1"}},
		"one that did not tell":  {[]history.Plan{plan("A", "", "", 1), plan("A", "3.7.3", "", 2)}, []string{"A: 2"}},
		"of another lock's, too": {[]history.Plan{plan("A", "3.4.23", "", 1), plan("B", "3.7.3", "", 1)}, []string{"A: 1", "B: 1"}},
	} {
		var dirs []string
		for i, p := range c.plans {
			dirs = append(dirs, written(t, filepath.Join(t.TempDir(), fmt.Sprint(i)), p, lb.Safe))
		}
		j, err := Join(dirs)
		ok(t, err)
		var got []string
		for _, c := range j.Cells {
			got = append(got, fmt.Sprintf("%s: %d", c.Row(), c.Runs))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: cells and their runs %q, want %q", name, got, c.want)
		}
	}
}
