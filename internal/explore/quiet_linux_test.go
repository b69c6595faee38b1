package explore

import (
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestThreads: of a process that works some thread runs, of one that is stopped or has ended none, and
// what has begun since the last look is seen.
func TestThreads(t *testing.T) {
	var looked threads
	defer looked.close()
	cmd := exec.Command("sh", "-c", "read wait; while :; do :; done")
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	wants := func(what string, want bool) {
		t.Helper()
		for start := time.Now(); (looked.runs(pid) > 0) != want; time.Sleep(time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("%s: a thread runs: %v", what, !want)
			}
		}
	}
	wants("it waits for a line", false)
	if _, err := stdin.Write([]byte("go on\n")); err != nil {
		t.Fatal(err)
	}
	wants("it works", true)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wants("it is stopped", false)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	wants("it has ended", false)
	if len(looked.of) != 0 {
		t.Errorf("files of %d processes are left open", len(looked.of))
	}
	// A thread more of this process, which works: first none does but the one that looks, which takes
	// a while where the collector of garbage is at work.
	self := os.Getpid()
	others := func(want bool) {
		t.Helper()
		for start := time.Now(); (looked.runs(self) > 1) != want; time.Sleep(time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("a thread runs beside the one that looks: %v", !want)
			}
		}
	}
	others(false)
	var over atomic.Bool
	defer over.Store(true)
	go func() {
		for !over.Load() {
		}
	}()
	others(true)
}
