package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// TestCutMatrix interrupts a matrix on real servers: what was done until then can be
// judged and shown, and the rest is not taken for more than it is.
func TestCutMatrix(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	cmd := testkit.Command(t, dir, "matrix", "--json", "--algorithms", "redis-fenced", "--faults", "none,kill@before-script,pause@before-write",
		"--jobs", "1", "--runs", "2", "--duration", "1s", "--out", "m")
	var printed bytes.Buffer
	cmd.Stdout = &printed
	done := filepath.Join(dir, "m", "cells", "*", "*", "*", "results.json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, time.Minute, func() error {
		if results, _ := filepath.Glob(done); len(results) == 0 {
			return fs.ErrNotExist
		}
		return nil
	})
	time.Sleep(time.Second) // into the next run
	interrupted(t, cmd)
	before := cellsOf(t, filepath.Join(dir, "m"))
	var file rundir.MatrixFile
	if err := json.Unmarshal(printed.Bytes(), &file); err != nil || len(file.Cells) != len(before) || file.Planned != 2 {
		t.Errorf("printed %d cells of %d runs, %v", len(file.Cells), file.Planned, err)
	}
	saysUnfinished(t, filepath.Join(dir, "m", rundir.PageFile))
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "check", "m"))
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
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "report", "m")); code != exitKept {
		t.Errorf("report: exit code %d\n%s%s", code, stdout, stderr)
	}
	saysUnfinished(t, filepath.Join(dir, "m", rundir.PageFile))
}

// saysUnfinished wants a page that claims nothing of what was not run.
func saysUnfinished(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("This matrix is not finished")) || !bytes.Contains(text, []byte(">not run<")) ||
		bytes.Contains(text, []byte("all as declared")) || bytes.Contains(text, []byte("everything tried")) {
		t.Errorf("%s claims more than was run", page)
	}
}

// interrupted interrupts a command, which must end soon, and say so.
func interrupted(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	start := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code says how it ended
	took, code := time.Since(start), cmd.ProcessState.ExitCode()
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGINT {
		code = exitInterrupted // by the system, since it had not come to main yet: to a shell the same
	}
	// Whoever waits for what is still to be run waits for far longer. Beside seven other packages a program that
	// ends at once has taken 9 s.
	if code != exitInterrupted || took > 12*time.Second {
		t.Errorf("exit code %d after %v of %v, which was interrupted", code, took, cmd.Args[1:])
	}
}

// TestInterrupted interrupts what takes long, at several moments.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	needLab(t, 0)
	for _, c := range []struct {
		args  []string
		until string // a file that is there
		after time.Duration
		page  string
		says  string
	}{
		{[]string{"quorum"}, "out", 0, rundir.QuorumPage, "Not measured: 6 etcd servers: context canceled"},
		{[]string{"quorum", "--jobs", "3"}, "out", 5 * time.Second, rundir.QuorumPage, "Not measured: 6 etcd servers: context canceled"},
		{[]string{"run", "--algorithm", "redis-fenced", "--fault", "pause-holder"}, "", 100 * time.Millisecond, "", ""}, // before anything is begun
		{[]string{"run", "--algorithm", "redis-fenced", "--fault", "pause-holder"}, filepath.Join("out", "events", "w*.jsonl"), 0, rundir.PageFile, "the run was interrupted"},
		{[]string{"run", "--algorithm", "zk-sequential", "--topology", "zookeeper-3", "--fault", "none"}, filepath.Join("out", "events", "w*.jsonl"), 0, rundir.PageFile, "the run was interrupted"},
		{[]string{"explore", "--algorithm", "redis-watchdog"}, "", 2 * time.Second, "", ""},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 3)
			dir := t.TempDir()
			cmd := testkit.Command(t, dir, append(c.args, "--out", "out")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, time.Minute, func() error {
				if begun, _ := filepath.Glob(filepath.Join(dir, c.until)); len(begun) == 0 {
					return fs.ErrNotExist
				}
				return nil
			})
			time.Sleep(c.after)
			interrupted(t, cmd)
			if c.page == "" {
				return
			}
			if text, err := os.ReadFile(filepath.Join(dir, "out", c.page)); err != nil || !strings.Contains(string(text), c.says) {
				t.Errorf("%v: the page does not say %q, %v", c.args, c.says, err)
			}
		})
	}
}

func cellsOf(t *testing.T, dir string) []checker.Cell {
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
		killed := strings.HasPrefix(r.Plan.Fault, "kill")
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
