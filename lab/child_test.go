package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func launcher(t *testing.T) *Launcher {
	t.Helper()
	l, err := NewLauncher(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func start(t *testing.T, p Program) *Child {
	t.Helper()
	c, err := StartChild(t.Context(), launcher(t), Place{Name: "h1", Addr: "127.0.0.1"}, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

// state is the letter by which the kernel describes a process, "" for none.
func state(pid int) string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	return string(b[bytes.LastIndexByte(b, ')')+2])
}

// eventually waits up to five seconds for ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 5 s: %s", what)
		}
	}
}

func TestChildStreams(t *testing.T) {
	var out, log bytes.Buffer
	c := start(t, Program{
		Argv:   []string{"sh", "-c", "cat; echo {addr} {port} >&2; exit 3"},
		Port:   6379,
		Stdin:  strings.NewReader("in"),
		Stdout: &out,
		Log:    &log,
	})
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("Wait: %v, want exit code 3", err)
	}
	if out.String() != "in" || log.String() != "127.0.0.1 6379\n" {
		t.Errorf("stdout %q, log %q", out.String(), log.String())
	}
	if c.Name() != "h1" || c.Addr() != "127.0.0.1" || c.Endpoint() != "127.0.0.1:6379" {
		t.Errorf("child is %q at %q, reached at %q", c.Name(), c.Addr(), c.Endpoint())
	}
}

// TestChildSeeds: what a program has made of a seed is there at its next start; a file is written anew.
func TestChildSeeds(t *testing.T) {
	place := Place{Name: "h1", Addr: "127.0.0.1", Dir: t.TempDir()}
	for _, want := range []string{"at 127.0.0.1\nfile\n", "at 127.0.0.1\nmore\nfile\n"} {
		var out bytes.Buffer
		c, err := StartChild(t.Context(), launcher(t), place, Program{
			Argv:  []string{"sh", "-c", "cat {dir}/seed {dir}/file; echo more | tee -a {dir}/seed >> {dir}/file"},
			Files: map[string]string{"file": "file\n"}, Seeds: map[string]string{"seed": "at {addr}\n"}, Stdout: &out,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil || out.String() != want {
			t.Errorf("it found %q, %v, want %q", &out, err, want)
		}
	}
}

func TestChildIsThisProgram(t *testing.T) {
	var out bytes.Buffer
	c := start(t, Program{Argv: []string{Self, "-test.list=^TestChildIsThisProgram$"}, Log: &out})
	if err := c.Wait(); err != nil || !strings.HasPrefix(out.String(), "TestChildIsThisProgram\n") {
		t.Errorf("it said %q and ended with %v", out.String(), err)
	}
}

// A dead child's Wait must return although the caller never closes its stdin.
func TestChildWaitIgnoresOpenStdin(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	c := start(t, Program{Argv: []string{"true"}, Stdin: r})
	if err := waitFor(c); err != nil {
		t.Errorf("Wait: %v", err)
	}
}

func TestChildStoppedHasNotEnded(t *testing.T) {
	c := start(t, Program{Argv: []string{"sleep", "1000"}})
	if err := c.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is stopped", func() bool { return state(c.Pid()) == "T" })
	select {
	case <-c.done:
		t.Fatalf("a stopped child counts as ended: %v", c.err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := c.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child runs on", func() bool { return state(c.Pid()) == "S" })
	if err := c.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(c); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("Wait: %v, want that it was terminated", err)
	}
	if err := c.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal to an ended child: %v", err)
	}
}

func TestChildKillTakesHelpersAlong(t *testing.T) {
	r, w := io.Pipe()
	c := start(t, Program{Argv: []string{"sh", "-c", "sleep 1000 & echo $!; wait"}, Stdout: w})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	helper, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	c.Kill()
	c.Kill() // a second time changes nothing
	eventually(t, "the helper is gone", func() bool { return strings.Trim(state(helper), "Z") == "" })
}

func TestChildReady(t *testing.T) {
	l := launcher(t)
	refused := errors.New("refused")
	t.Run("after some tries", func(t *testing.T) {
		tries := 0
		c, err := StartChild(t.Context(), l, Place{Name: "h1", Addr: "127.0.0.1"}, Program{
			Argv: []string{"sleep", "1000"}, Port: 1,
			Ready: func(_ context.Context, endpoint string) error {
				if tries++; endpoint != "127.0.0.1:1" {
					t.Errorf("asked at %q", endpoint)
				}
				if tries < 4 {
					return refused
				}
				return nil
			},
		})
		if err != nil || tries != 4 {
			t.Fatalf("started after %d tries with %v", tries, err)
		}
		c.Kill()
	})
	never := func(context.Context, string) error { return refused }
	t.Run("ended before", func(t *testing.T) {
		_, err := StartChild(t.Context(), l, Place{Name: "h1", Addr: ""}, Program{Argv: []string{"sh", "-c", "exit 7"}, Ready: never})
		want := "start h1: sh: ended before it was ready: refused (it ended with: exit status 7)"
		if err == nil || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	})
	t.Run("too late", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := StartChild(ctx, l, Place{Name: "h1", Addr: ""}, Program{Argv: []string{"sleep", "1000"}, Ready: never})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, refused) {
			t.Errorf("error %v", err)
		}
	})
}

func TestChildErrors(t *testing.T) {
	closed := launcher(t)
	closed.Close()
	for _, tc := range []struct {
		l    *Launcher
		argv []string
		want string
	}{
		{launcher(t), nil, "start h1: the program has no command"},
		{launcher(t), []string{"/no/such/program"}, "start h1: /no/such/program is not installed"},
		{closed, []string{"true"}, "start h1: launcher is closed"},
	} {
		_, err := StartChild(t.Context(), tc.l, Place{Name: "h1", Addr: ""}, Program{Argv: tc.argv})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%q: error %q, want %q", tc.argv, err, tc.want)
		}
	}
}

func TestLauncherEnterFails(t *testing.T) {
	want := errors.New("no such namespace")
	if _, err := NewLauncher(func() error { return want }); !errors.Is(err, want) {
		t.Errorf("error %v", err)
	}
}

// A child must outlive the threads of the goroutines that had it started.
func TestLauncherKeepsItsThread(t *testing.T) {
	l := launcher(t)
	var c *Child
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		var err error
		c, err = StartChild(context.Background(), l, Place{Name: "h1", Addr: ""}, Program{Argv: []string{"sleep", "1000"}})
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	defer c.Kill()
	select {
	case <-c.done:
		t.Fatalf("the child died with the goroutine that had it started: %v", c.err)
	case <-time.After(100 * time.Millisecond):
	}
}

// The child of a process that is killed must die, too. The process in between
// is this test, run a second time.
func TestChildDiesWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux has a parent death signal")
		return
	}
	const marker = "LOCKBENCH_TEST_PARENT"
	if os.Getenv(marker) != "" {
		fmt.Println("child", start(t, Program{Argv: []string{"sleep", "1000"}}).Pid())
		select {}
	}
	parent := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	parent.Env = append(os.Environ(), marker+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for s := bufio.NewScanner(out); pid == 0 && s.Scan(); {
		_, _ = fmt.Sscanf(s.Text(), "child %d", &pid)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if pid == 0 {
		t.Fatal("the process in between started no child")
	}
	eventually(t, "the child is gone", func() bool { return strings.Trim(state(pid), "Z") == "" })
}

// waitFor is Wait with a bound of five seconds.
func waitFor(c *Child) error {
	select {
	case <-c.done:
		return c.Wait()
	case <-time.After(5 * time.Second):
		return errors.New("the child has not ended within 5 s")
	}
}
