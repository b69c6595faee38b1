package testkit

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Command is a command of the program that this test's binary can act as (see [Program]),
// as a user would start it in dir.
func Command(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	return cmd
}

// Ran runs a command to its end, and returns its exit code and what it printed.
func Ran(t testing.TB, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// Eventually waits until ok returns nil, and fails the test with its error if that takes
// longer than bound, or four times as long on a machine that has much else to do.
func Eventually(t testing.TB, bound time.Duration, ok func() error) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := ok()
		if err == nil {
			return
		}
		if took := time.Since(start); took > bound && (took > 4*bound || !Busy(t.Context())) {
			t.Fatal(err)
		}
	}
}
