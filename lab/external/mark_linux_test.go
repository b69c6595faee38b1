package external

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// sleeper is a process that goes on until it is ended.
func sleeper(t *testing.T) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
	t.Cleanup(end)
	return cmd.Process.Pid, end
}

func TestGoesOn(t *testing.T) {
	pid, end := sleeper(t)
	goes := markOf(pid, time.Now())
	for mark, want := range map[string]bool{
		goes:                                   true,
		markOf(pid, time.Now().Add(time.Hour)): true,
		markOf(pid, time.Now().Add(-time.Minute)):    false, // of another process, which had this number
		strings.Replace(goes, " on ", " on not-", 1): false,
		newMark(): false, // whoever asks is done with it
		"":        false, "somebody": false, "process 1 on x": false,
	} {
		if goesOn(mark) != want {
			t.Errorf("%q goes on: %v", mark, !want)
		}
	}
	end()
	if goesOn(goes) {
		t.Errorf("%q has ended", goes)
	}
}

// TestClear: what a run uses that goes on on this machine stays there, whoever wants it removed.
func TestClear(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	k, server := kind(t, "redis"), labtest.Servers(t, "redis")[0].Endpoint()
	theirs, ours := those(t, server), those(t, server)
	pid, end := sleeper(t)
	theirs.by = markOf(pid, time.Now())
	if err := theirs.Take(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	keep(t, "redis", server)
	if err := ours.Clear(k); err == nil || !strings.Contains(err.Error(), theirs.by) {
		t.Errorf("a run goes on, and its servers are cleared: %v", err)
	}
	if all, by, err := ours.kept(t.Context(), k); err != nil || len(all) != 1 || by != theirs.by {
		t.Errorf("a run goes on, and of it is left: %v, %q, %v", all, by, err)
	}
	end()
	if err := ours.Clear(k); err != nil {
		t.Error(err)
	}
	kept(t, "redis", server)
}
