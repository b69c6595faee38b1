package processes_test

import (
	"bufio"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/processes"
	"golang.org/x/sys/unix"
)

// family starts a shell with a child of its own group and one in a session of its own whose
// parent has ended, all of which count, and returns the shell and the three.
func family(t *testing.T) (shell *exec.Cmd, all []int) {
	t.Helper()
	if err := processes.Adopt(); err != nil {
		t.Fatal(err)
	}
	const count = `while :; do n=$((n+1)); done`
	shell = exec.Command("sh", "-c", `sh -c '`+count+`' & echo $!; (setsid sh -c 'echo $$; `+count+`' &); `+count)
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	all = append(all, shell.Process.Pid)
	lines := bufio.NewScanner(out)
	for len(all) < 3 && lines.Scan() {
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	t.Cleanup(func() {
		for _, pid := range all {
			processes.Kill(pid)
		}
		_ = shell.Wait()
	})
	return shell, all
}

// TestStop stops all of them, whoever has started them, and notices who was let go.
func TestStop(t *testing.T) {
	_, all := family(t)
	for _, disturbed := range []bool{false, true} {
		s, err := processes.Stop(unix.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range all {
			if !slices.Contains(s.Pids(), pid) {
				t.Errorf("%d is not among those that were stopped: %v", pid, s.Pids())
			}
		}
		time.Sleep(100 * time.Millisecond)
		if disturbed {
			if err := unix.Kill(all[2], unix.SIGCONT); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
		}
		err = s.Continue()
		if (err != nil) != disturbed || disturbed && !strings.Contains(err.Error(), strconv.Itoa(all[2])) {
			t.Errorf("somebody was let go: %v, told: %v", disturbed, err)
		}
	}
}

// TestKill ends a process with all below it, also those of other sessions.
func TestKill(t *testing.T) {
	shell, all := family(t)
	processes.Kill(shell.Process.Pid)
	_ = shell.Wait()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		below, err := processes.Of(unix.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(below, all[1]) || unix.Kill(all[1], 0) != nil || time.Now().After(end) {
			break
		}
		var status unix.WaitStatus
		_, _ = unix.Wait4(all[1], &status, unix.WNOHANG, nil)
	}
	if unix.Kill(all[1], 0) == nil {
		t.Errorf("%d lives on", all[1])
	}
}
