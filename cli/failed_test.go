package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// panics is a lock with a bug of its own.
type panics struct{ lb.Impl }

func (panics) Info() lb.Info {
	return lb.Info{Name: "panics", Doc: "a lock that panics", Topologies: []string{"redis"}, Requests: []string{"set"}, Takes: "set"}
}

func (panics) Open(context.Context, *lb.Env) (lb.Client, error) { panic("a bug of the lock") }

// TestFailedRun: a run that fails ends no other, and whoever looks at the matrix is
// told, wherever he looks.
func TestFailedRun(t *testing.T) {
	t.Parallel()
	needLab(t, 2)
	dir := t.TempDir()
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "matrix", "--json", "--algorithms", "panics,redis-setpx-lua", "--faults", "none",
		"--duration", "500ms", "--out", "m", "--junit", "j.xml"))
	if code != exitUndecided || !strings.Contains(stderr, "the worker has ended") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	var file rundir.MatrixFile
	if err := json.Unmarshal([]byte(stdout), &file); err != nil || len(file.Cells) != 2 {
		t.Fatalf("%v\n%s", err, stdout)
	}
	saysFailed(t, file)
	wellFormed(t, filepath.Join(dir, "j.xml"))
	if text, err := os.ReadFile(filepath.Join(dir, "j.xml")); err != nil || !strings.Contains(string(text), `<error message="INCONCLUSIVE: the run failed: `) {
		t.Errorf("JUnit: %v\n%s", err, text)
	}
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "check", "m")); code != exitUndecided || !strings.Contains(stdout, "the run failed: ") {
		t.Errorf("check: exit code %d\n%s%s", code, stdout, stderr)
	}
	onPage(t, filepath.Join(dir, "m"), "1 SAFE, 1 failed; none against what is declared", "1 cell whose run failed", ">failed<", "the worker has ended")
	code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "run", "--algorithm", "panics", "--out", "r"))
	if code != exitUndecided || !strings.Contains(stdout, "1 failed") || !strings.Contains(stderr, "the worker has ended") {
		t.Errorf("run: exit code %d\n%s%s", code, stdout, stderr)
	}
	onPage(t, filepath.Join(dir, "r"), "1 failed", "the worker has ended")
	if code, _, stderr = testkit.Ran(t, testkit.Command(t, dir, "run", "--algorithm", "none", "--out", "r")); code != exitUsage || !strings.Contains(stderr, "never writes over another") {
		t.Errorf("over another run: exit code %d\n%s", code, stderr)
	}
	onPage(t, filepath.Join(dir, "r"), "panics")
}

func saysFailed(t *testing.T, file rundir.MatrixFile) {
	t.Helper()
	for i, want := range []lb.Outcome{lb.Inconclusive, lb.Safe} {
		if c := file.Cells[i]; c.Outcome != want || want == lb.Inconclusive && !strings.HasPrefix(c.Reason, "the run failed: ") {
			t.Errorf("%s: %s (%s), want %s", c.Algorithm, c.Outcome, c.Reason, want)
		}
	}
}

// onPage wants these words on the page of the directory, and no claim about what was
// not shown.
func onPage(t *testing.T, dir string, words ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, rundir.PageFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range words {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page of %s lacks %q", dir, want)
		}
	}
	for _, not := range []string{"all as declared", "everything tried"} {
		if strings.Contains(string(text), not) {
			t.Errorf("the page of %s says %q", dir, not)
		}
	}
}

// TestFullDisk: where nothing more can be written, what happened is still told.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	needLab(t, 2)
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := os.Mkdir(full, 0o755); err != nil {
		t.Fatal(err)
	}
	in := []string{"--mount"}
	if os.Geteuid() != 0 {
		in = append(in, "--user", "--map-root-user")
	}
	in = append(in, "sh", "-c", `mount -t tmpfs -o size=200k none "$0" && exec "$@"`, full)
	if out, err := exec.Command("unshare", append(in, "true")...).CombinedOutput(); err != nil {
		testkit.Need(t, "a mount of its own", errors.New(string(out)))
	}
	cmd := testkit.Command(t, dir, "matrix", "--json", "--algorithms", "none,redis-setpx-lua", "--faults", "none", "--out", filepath.Join(full, "m"))
	wrapped := exec.Command("unshare", append(in, cmd.Args...)...)
	wrapped.Dir, wrapped.Env = cmd.Dir, cmd.Env
	code, stdout, stderr := testkit.Ran(t, wrapped)
	var file rundir.MatrixFile
	if err := json.Unmarshal([]byte(stdout), &file); err != nil || len(file.Cells) != 2 {
		t.Errorf("%v\n%s", err, stdout)
	}
	if code != exitCantRun || !strings.Contains(stderr, "no space left on device") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	for _, c := range file.Cells {
		harmless := c.Outcome == lb.Inconclusive && strings.HasPrefix(c.Reason, "the run failed: ")
		if !harmless && (c.Algorithm != "none" || c.Outcome != lb.Broken) {
			t.Errorf("%s: %s (%s)", c.Algorithm, c.Outcome, c.Reason)
		}
	}
}

// TestTwice: who interrupts once more does not wait for anything. An exploration has five seconds to tell how
// far it came, and here it is stopped and does not end by itself.
func TestTwice(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	cmd := testkit.Command(t, t.TempDir(), "explore", "--algorithm", "redis-setpx-del", "--expiries", "0", "--budget", "100000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, time.Minute, func() error { // what /proc lists as a thread's children can leave one out
		return exec.Command("pkill", "-STOP", "-P", fmt.Sprint(cmd.Process.Pid), "-f", " explores ").Run()
	})
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for done := false; !done; { // the second may come before the first was noticed
		_ = cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended; in the background of a shell interrupts are ignored
		select {
		case <-ended:
			done = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, not by the second signal", cmd.ProcessState)
	}
}
