package rundir

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// TestHeld: whoever is at work in a directory is seen until he has ended, and be it that he
// was killed.
func TestHeld(t *testing.T) {
	const holds = "LOCKBENCH_TEST_HOLDS"
	if dir := os.Getenv(holds); dir != "" {
		defer Hold(dir)()
		os.Stdout.WriteString("held\n")
		time.Sleep(time.Minute)
	}
	dir := t.TempDir()
	held := func(want bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Second); Held(dir) != want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("held: %v, want %v", !want, want)
			}
		}
	}
	held(false)
	first, second := Hold(dir), Hold(dir)
	held(true)
	first()
	held(true)
	second()
	held(false)

	cmd := exec.Command(os.Args[0], "-test.run", "^TestHeld$")
	cmd.Env = append(os.Environ(), holds+"="+dir)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" || !Held(dir) {
		t.Errorf("%q, %v; held: %v", line, err, Held(dir))
	}
	ok(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	held(false)

	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	Hold(filepath.Join(dir, "none"))()
	if Held(filepath.Join(dir, "none")) {
		t.Error("a directory that is not there is held")
	}
}

// TestStamp: it changes with what a page tells, and with nothing else.
func TestStamp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	if stamp, last := Stamp(dir); stamp != "" || !last.IsZero() {
		t.Errorf("nothing: %q, %v", stamp, last)
	}
	r, err := CreateRun(dir, joinPlan(1))
	ok(t, err)
	planned, _ := Stamp(dir)
	ok(t, os.WriteFile(filepath.Join(dir, PageFile), nil, 0o644))
	if same, _ := Stamp(dir); same != planned || planned == "" {
		t.Errorf("after the page: %q, before: %q", same, planned)
	}
	ok(t, r.SaveResult(checker.Result{Outcome: lb.Safe}))
	judged, at := Stamp(dir)
	if judged == planned || time.Since(at) > time.Minute {
		t.Errorf("after the judgement: %q, %v", judged, at)
	}
	ok(t, r.SaveResult(checker.Result{Outcome: lb.Broken}))
	if again, _ := Stamp(dir); again == judged {
		t.Errorf("after another: %q", again)
	}
}
