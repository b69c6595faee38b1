package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

func TestPortable(t *testing.T) {
	for name, want := range map[string]string{
		"pause@before-write":     "pause-before-write",
		"cut-two+server-clock":   "cut-two+server-clock",
		`a<b>c|d*e?f"g\h/i j`:    "a-b-c-d-e-f-g-h-i-j",
		"Große Sperre":           "gro-e-sperre",
		"..":                     "-",
		"":                       "-",
		"aux":                    "-aux",
		"com1.lock":              "-com1.lock",
		"console":                "console",
		"dot.":                   "dot",
		"redis-setpx-lua@0.7ttl": "redis-setpx-lua-0.7ttl",

		strings.Repeat("a,", 500): strings.Repeat("a-", 60),
	} {
		if got := Portable(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func aMatrix(t *testing.T, runs int, cells ...checker.Cell) *Matrix {
	t.Helper()
	m, err := CreateMatrix(filepath.Join(t.TempDir(), "m"), cells, runs)
	ok(t, err)
	return m
}

// TestRunDirs: no two runs share a place, also where a system takes some letters for
// the same.
func TestRunDirs(t *testing.T) {
	var cells []checker.Cell
	for _, a := range []string{"a", "A", "a-2", "a:"} {
		for _, f := range []string{"f:x", "f-x", "F*x"} {
			cells = append(cells, checker.Cell{Algorithm: a, Fault: f})
		}
	}
	m := aMatrix(t, 2, cells...)
	seen := map[string]bool{}
	for i := range cells {
		for n := range 2 {
			dir, full := m.RunDir(i, n)
			if low := strings.ToLower(dir); seen[low] || strings.ContainsAny(dir, `:<>|*?"\`) {
				t.Errorf("%v: %s is not fit, or taken", cells[i], dir)
			} else {
				seen[low] = true
			}
			if full != filepath.Join(m.Dir, filepath.FromSlash(dir)) {
				t.Errorf("%s is at %s", dir, full)
			}
		}
	}
}

// TestInterruptedMatrix: from the start on it can be read, and says what was not run.
func TestInterruptedMatrix(t *testing.T) {
	m := aMatrix(t, 2, checker.Cell{Algorithm: "A", Fault: "pause@b", Seed: 7}, checker.Cell{Algorithm: "A", Fault: "none"},
		checker.Cell{Algorithm: "B", Fault: "none", Outcome: lb.NotAvailable, Reason: "no such step"})
	dir, full := m.RunDir(0, 0)
	r, err := CreateRun(full, aPlan)
	ok(t, err)
	ok(t, m.Set(0, checker.Cell{Algorithm: "A", Fault: "pause@b", Outcome: lb.Safe, Runs: 1, Dir: dir}))

	kind, err := Kind(m.Dir)
	if ok(t, err); kind != IsMatrix {
		t.Errorf("kind %q", kind)
	}
	again, err := OpenMatrix(m.Dir)
	ok(t, err)
	if c := again.Cells; len(c) != 3 || c[0].Outcome != lb.Safe || c[1].Outcome != lb.Inconclusive || c[1].Reason != NotRun ||
		c[2].Outcome != lb.NotAvailable || again.Planned != 2 {
		t.Errorf("cells %+v", c)
	}
	got, err := again.Run(again.Cells[0])
	if ok(t, err); got.Dir != r.Dir || got.Plan.Seed != 7 {
		t.Errorf("the cell's run is %+v", got)
	}
	if _, err := again.Run(again.Cells[1]); err == nil || !strings.Contains(err.Error(), "A × none: not run") {
		t.Errorf("the run of a cell that was not run: %v", err)
	}
	for _, out := range []string{"../else", "/etc", "cells/../../x"} {
		if _, err := again.Run(checker.Cell{Dir: out}); err == nil {
			t.Errorf("%s is below the matrix", out)
		}
	}
	if _, err := CreateMatrix(m.Dir, nil, 1); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a matrix over another: %v", err)
	}
}

func TestRunsOfMatrix(t *testing.T) {
	m := aMatrix(t, 12, checker.Cell{Algorithm: "A", Fault: "f"})
	if runs, damaged := m.Runs(); len(runs)+len(damaged) > 0 {
		t.Errorf("a matrix that has just begun: %v, %v", runs, damaged)
	}
	for n := range 12 {
		plan := aPlan
		plan.Seed = uint64(100 + n)
		_, full := m.RunDir(0, n)
		_, err := CreateRun(full, plan)
		ok(t, err)
	}
	_, full := m.RunDir(0, 3)
	ok(t, os.WriteFile(filepath.Join(full, "plan.json"), []byte("{"), 0o644))
	runs, damaged := m.Runs()
	if len(runs) != 11 || len(damaged) != 1 || !strings.Contains(damaged[0].Error(), "plan.json:1") {
		t.Fatalf("%d runs, damaged %v", len(runs), damaged)
	}
	for i, r := range runs[1:] {
		if r.Plan.Seed <= runs[i].Plan.Seed {
			t.Errorf("seed %d comes after %d", r.Plan.Seed, runs[i].Plan.Seed)
		}
	}
	rel, err := m.Rel(runs[0])
	if want, _ := m.RunDir(0, 0); err != nil || rel != want {
		t.Errorf("%s, %v; want %s", rel, err, want)
	}
}

func TestLatest(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "latest")
	for _, run := range []string{"a", "b"} {
		ok(t, Latest(filepath.Join(dir, run)))
		if to, err := os.Readlink(link); err != nil || to != run {
			t.Errorf("latest is %q, %v", to, err)
		}
	}
	// Each kind has a link of its own, which the others leave alone.
	for name, file := range map[string]string{"m": matrixFile, "r": planFile, "p": benchFile, "q": QuorumFile} {
		ok(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		ok(t, os.WriteFile(filepath.Join(dir, name, file), []byte("{}"), 0o644))
	}
	for _, run := range []string{"m", "p", "r", "q"} {
		ok(t, Latest(filepath.Join(dir, run)))
	}
	for name, want := range map[string]string{"latest": "r", "latest-run": "r", "latest-matrix": "m", "latest-bench": "p", "latest-quorum": "q"} {
		if to, err := os.Readlink(filepath.Join(dir, name)); err != nil || to != want {
			t.Errorf("%s is %q, %v; want %s", name, to, err, want)
		}
	}
	if got, want := OtherLatest(link, IsMatrix, IsExplored), "; the latest matrix is "+filepath.Join(dir, "latest-matrix"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := OtherLatest(filepath.Join(dir, "r"), IsMatrix); got != "" {
		t.Errorf("of what was named itself: %q", got)
	}
	for what, make := range map[string]func() error{
		"a file":                func() error { return os.WriteFile(link, []byte("mine"), 0o644) },
		"a directory":           func() error { return os.Mkdir(link, 0o755) },
		"a link somewhere else": func() error { return os.Symlink("../mine", link) },
	} {
		ok(t, os.RemoveAll(link))
		ok(t, make())
		before, err := os.Lstat(link)
		ok(t, err)
		ok(t, Latest(filepath.Join(dir, "c")))
		if after, err := os.Lstat(link); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced", what)
		}
	}
}
