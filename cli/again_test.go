package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// TestCheckMatrix judges a matrix that was interrupted: nothing is claimed of what was
// not run, or not to its end, and the rest is as it was.
func TestCheckMatrix(t *testing.T) {
	dir := t.TempDir()
	m := recordMatrix(t, filepath.Join(dir, "m"))
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "check", "--json", "m"))
	if code != exitUndecided {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	var printed rundir.MatrixFile
	if err := json.Unmarshal([]byte(stdout), &printed); err != nil {
		t.Fatal(err)
	}
	again, err := rundir.OpenMatrix(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"A × none: SAFE () 2 runs, promise kept",
		"A × pause-holder: BROKEN (overstay) 3 runs, promise kept",
		"A × cut:x: INCONCLUSIVE (the run was cut short) 1 runs, promise ",
		"B × none: INCONCLUSIVE (not run) 0 runs, promise ",
		"B × cut:x: n/a (no network) 0 runs, promise ",
	}
	for i, c := range again.Cells {
		reason, _, _ := strings.Cut(c.Reason, ":")
		if got := fmt.Sprintf("%s × %s: %s (%s) %d runs, promise %s", c.Algorithm, c.Fault, c.Outcome, reason, c.Runs, c.Promise); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
		if p := printed.Cells[i]; p.Outcome != c.Outcome || c.Dir != "" && p.Dir != filepath.Join("m", c.Dir) {
			t.Errorf("printed %+v", p)
		}
	}
	if dir, _ := m.RunDir(1, 1); again.Cells[1].Dir != dir {
		t.Errorf("the cell shows %s, want the worst run, %s", again.Cells[1].Dir, dir)
	}
	for _, note := range []string{"A × none: 1 of 3 runs not done", "A × cut:x: 2 of 3 runs not done", "B × none: 3 of 3 runs not done"} {
		if !strings.Contains(stderr, note) {
			t.Errorf("no note %q in\n%s", note, stderr)
		}
	}
	if runs, damaged := again.Runs(); len(damaged) > 0 {
		t.Error(damaged)
	} else {
		for _, r := range runs {
			if _, err := r.Result(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestCheckMatrixDamaged: one run that makes no sense hides none of the others.
func TestCheckMatrixDamaged(t *testing.T) {
	dir := t.TempDir()
	m := recordMatrix(t, filepath.Join(dir, "m"))
	_, full := m.RunDir(0, 1)
	if err := os.WriteFile(filepath.Join(full, "events", "w2.jsonl"), []byte("no history\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "check", "m"))
	if code != exitUsage || !strings.Contains(stderr, "w2.jsonl:1:") || !strings.Contains(stdout, "BROKEN") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// TestReportMatrix makes pages of runs and matrices, finished or not.
func TestReportMatrix(t *testing.T) {
	dir := t.TempDir()
	m := recordMatrix(t, filepath.Join(dir, "m"))
	_, run := m.RunDir(1, 1)
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "report", "m", run))
	if code != exitKept || stdout != rundir.PageFile+"\n" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "report", "-o", "page.html", "m")); code != exitKept || stdout != "page.html\n" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "report", "--markdown", "m")); code != exitKept || !strings.Contains(stdout, "| B | not run |") {
		t.Errorf("Markdown: exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "report", "m")); code != exitKept || stdout != filepath.Join("m", rundir.PageFile)+"\n" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, page := range []string{"m/" + rundir.PageFile, rundir.PageFile, "page.html"} {
		if _, err := os.Stat(filepath.Join(dir, page)); err != nil {
			t.Error(err)
		}
	}
}

// TestReadOnly judges and shows what can only be read.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	m := recordMatrix(t, filepath.Join(dir, "m"))
	_, run := m.RunDir(0, 0)
	run, err := filepath.Rel(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.Mkdir(work, 0o777), os.Chmod(work, 0o777), closed(m.Dir)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened(m.Dir) }) // for those who are not root
	as := asNobody(t, dir)
	code, stdout, stderr := testkit.Ran(t, as("check", run))
	if code != exitKept || !strings.Contains(stdout, "SAFE") || !strings.Contains(stdout, "note: not saved: ") {
		t.Errorf("check of a run: exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = testkit.Ran(t, as("check", "m"))
	if code != exitUndecided || !strings.Contains(stderr, "note: not saved: ") {
		t.Errorf("check of a matrix: exit code %d\n%s%s", code, stdout, stderr)
	}
	for name, page := range map[string]string{"../m": "m-report.html\n", filepath.Join("..", run): "1-report.html\n"} {
		cmd := as("report", name)
		cmd.Dir = work
		code, stdout, stderr = testkit.Ran(t, cmd)
		if code != exitKept || !strings.Contains(stderr, "note: "+name+" can't be written") || stdout != page {
			t.Errorf("report: exit code %d\n%s%s", code, stdout, stderr)
		}
	}
}

// asNobody runs lockbench in dir as a user who may write nothing there.
func asNobody(t *testing.T, dir string) func(args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return func(args ...string) *exec.Cmd { return testkit.Command(t, dir, args...) }
	}
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "lockbench")
	text, err := os.ReadFile(self) // the test's own directory is closed to others
	if err = errors.Join(err, os.WriteFile(program, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := testkit.Command(t, dir, args...)
		cmd.Path, cmd.Args[0] = program, program
		cmd.Env = append(cmd.Env, "HOME=/nonexistent")
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return cmd
	}
}

// closed takes the right to write from all directories below dir, opened gives it back.
func closed(dir string) error { return chmod(dir, 0o555) }
func opened(dir string) error { return chmod(dir, 0o755) }

func chmod(dir string, mode fs.FileMode) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(path, mode)
	})
}

// worked is the processor time that a process has had.
func worked(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, stat, found := strings.Cut(string(text), ") ") // a name may have spaces
	fields := strings.Fields(stat)
	if err != nil || !found || len(fields) < 13 {
		t.Fatalf("processor time of %d: %q, %v", pid, text, err)
	}
	user, e1 := strconv.Atoi(fields[11])
	system, e2 := strconv.Atoi(fields[12])
	if err := errors.Join(e1, e2); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // a tick, on all machines that Go knows
}

// TestLarge: whatever check and report are doing with a large history, they end within
// a second of work of being told; and where the memory will not do, they say so.
func TestLarge(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	dir := t.TempDir()
	large, err := os.Create(filepath.Join(dir, "large.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	const operations = 700_000 // about 300 MB
	if err := errors.Join(writeLarge(large, operations), large.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := rundir.CreateRun(filepath.Join(dir, "run"), history.Plan{Algorithm: "A", Fault: "none"})
	if err == nil {
		err = errors.Join(os.Rename(large.Name(), r.EventsFile(rundir.Runner)), os.Symlink(r.EventsFile(rundir.Runner), large.Name()))
	}
	if err != nil {
		t.Fatal(err)
	}
	little := testkit.Command(t, dir, "check", "large.jsonl")
	little.Env = append(little.Env, "GOMEMLIMIT=100MiB")
	if code, stdout, stderr := testkit.Ran(t, little); code != exitCantRun || !strings.Contains(stderr, "too large for the memory") {
		t.Errorf("with little memory: exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, c := range []struct {
		name  string
		args  []string
		works time.Duration // it is at it when it has worked for so long, 0: when it works no more
	}{
		{"nothing comes", []string{"check", "-"}, 0},
		{"while it reads", []string{"check", "large.jsonl"}, 700 * time.Millisecond},
		{"while it reads a run", []string{"check", "run"}, 700 * time.Millisecond},
		{"while it draws", []string{"report", "run"}, 700 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := testkit.Command(t, dir, c.args...)
			open, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for last, deadline := time.Duration(0), time.Now().Add(time.Minute); time.Now().Before(deadline); {
				time.Sleep(300 * time.Millisecond)
				now := worked(t, cmd.Process.Pid)
				if c.works > 0 && now >= c.works || c.works == 0 && now > 0 && now == last {
					break
				}
				last = now
			}
			start, before := time.Now(), worked(t, cmd.Process.Pid)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // its exit code says how it ended
			took, work := time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()-before
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || work > time.Second || took > 4*time.Second { // others work, too
				t.Errorf("exit code %d after %v, in which it worked for %v", code, took, work)
			}
		})
	}
}

// writeLarge writes a history of one client that takes and gives back its lock.
func writeLarge(w io.Writer, operations int) error {
	var b bytes.Buffer
	b.WriteString("{\"lockbench\":\"history\",\"version\":1}\n")
	for i := range operations {
		for n, what := range []string{`"call","op":"acquire"`, `"return","result":"ok","op":"acquire"`, `"call","op":"release"`, `"return","result":"ok","op":"release"`} {
			fmt.Fprintf(&b, "{\"t\":%d,\"e\":%s,\"client\":\"a client with a long name\",\"lock\":\"L\",\"id\":\"%d\"}\n", 4*i+n+1, what, i)
		}
		if b.Len() > 1<<20 || i == operations-1 {
			if _, err := b.WriteTo(w); err != nil {
				return err
			}
		}
	}
	return nil
}
