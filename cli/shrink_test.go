package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// TestShrink: of several faults of which a lock can't bear one, that one is left, and the command
// that is printed is that of the run that lies there.
func TestShrink(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "run", "--algorithm", "redis-setpx-del", "--fault", "client-clock,pause-holder,lost-grant", "--faults-at-once", "2",
		"--first", "--seed", "5", "--out", "big"))
	if code != exitKept {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	big, err := rundir.OpenRun(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := big.Result()
	if err != nil || before.Outcome != lb.Broken {
		t.Fatalf("%s (%s), %v", before.Outcome, before.Reason, err)
	}
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "shrink", "big", "--budget", "2m", "--out", "small"))
	if code != exitKept {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	small, err := rundir.OpenRun(filepath.Join(dir, "small"))
	if err != nil {
		t.Fatal(err)
	}
	p := small.Plan
	if p.Fault != "pause-holder" || p.Clients > big.Plan.Clients || p.FaultsAtOnce != 0 {
		t.Errorf("not small: %s with %d clients\n%s", p.Fault, p.Clients, stderr)
	}
	after, err := small.Result()
	if _, how := seen(before); err != nil || after.Outcome != lb.Broken || !strings.HasPrefix(after.Reason, how) {
		t.Errorf("%s (%s), want %s, %v", after.Outcome, after.Reason, how, err)
	}
	if command := strings.TrimSpace(stdout); strings.Contains(command, "\n") || !strings.Contains(command, " --fault "+p.Fault+" ") {
		t.Errorf("printed %q", stdout)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "small.tries*")); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "small", rundir.PageFile)); err != nil {
		t.Error(err)
	}
	// More tries are no advice where there is no time for one.
	if code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "shrink", "small", "--budget", "1ns", "--out", "smaller")); code != exitUndecided || !strings.Contains(stderr, "in 0 runs within 1ns: it may need a larger --budget") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
