package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestCutMatrix interrupts a matrix on real servers: what was done until then can be
// judged and shown, and the rest is not taken for more than it is.
func TestCutMatrix(t *testing.T) {
	needLab(t)
	dir := t.TempDir()
	cmd := lockbench(t, dir, "matrix", "--algorithms", "redis-fenced", "--faults", "none,crash-at:before-script,pause-at:before-write",
		"--jobs", "1", "--runs", "2", "--duration", "1s", "--out", "m")
	done := filepath.Join(dir, "m", "cells", "*", "*", "*", "results.json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, func() error {
		if results, _ := filepath.Glob(done); len(results) == 0 {
			return fs.ErrNotExist
		}
		return nil
	})
	time.Sleep(time.Second) // into the next run
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code says how it ended
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d of a matrix that was interrupted", code)
	}
	before := cellsOf(t, filepath.Join(dir, "m"))
	code, stdout, stderr := ran(t, lockbench(t, dir, "check", "m"))
	if code != exitUndecided {
		t.Errorf("check: exit code %d\n%s%s", code, stdout, stderr)
	}
	after := cellsOf(t, filepath.Join(dir, "m"))
	notRun := 0
	for i, c := range after {
		if c.Outcome != before[i].Outcome || c.Dir != before[i].Dir || c.Promise == "broken" {
			t.Errorf("%s × %s: %s in %s, promise %q; before it was judged again %s in %s", c.Algorithm, c.Fault, c.Outcome, c.Dir, c.Promise, before[i].Outcome, before[i].Dir)
		}
		if c.Reason == rundir.NotRun {
			notRun++
		}
	}
	if len(after) != 3 || notRun == 0 {
		t.Errorf("%d cells, of which %d were not run", len(after), notRun)
	}
	if code, stdout, stderr = ran(t, lockbench(t, dir, "report", "m")); code != exitKept {
		t.Errorf("report: exit code %d\n%s%s", code, stdout, stderr)
	}
}

func cellsOf(t *testing.T, dir string) []lb.Cell {
	t.Helper()
	m, err := rundir.OpenMatrix(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m.Cells
}

// tidy wants names that every system takes, nothing that is there twice, and recorders
// that all have closed their files.
func tidy(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.ContainsAny(d.Name(), `:<>|*?"\`) || d.Name() == "history.jsonl" || strings.HasPrefix(d.Name(), ".new") {
			t.Errorf("%s should not be there", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "latest")); err == nil {
		t.Errorf("a link was made beside %s", dir)
	}
	m, err := rundir.OpenMatrix(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, damaged := m.Runs()
	for _, err := range damaged {
		t.Error(err)
	}
	for _, r := range runs {
		ix, err := r.History(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		killed := strings.HasPrefix(r.Plan.Fault, "crash-") || strings.HasPrefix(r.Plan.Fault, "kill-")
		if len(ix.Doubts) > 0 || len(ix.Notes) > 0 && !killed {
			t.Errorf("%s: notes %q, doubts %q", r.Dir, ix.Notes, ix.Doubts)
		}
		for _, c := range ix.Clients {
			if c.Worker < 0 || !strings.HasPrefix(c.Name, ix.Workers[c.Worker].Name+".") {
				t.Errorf("%s: %s lives in no process", r.Dir, c.Name)
			}
		}
		if r.Plan.Machine == nil || r.Plan.Jobs == 0 || r.Plan.Versions["go"] == "" {
			t.Errorf("%s: the plan does not say where it ran: %+v", r.Dir, r.Plan)
		}
	}
}
