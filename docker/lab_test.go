package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/lab"
)

func TestContainerSignals(t *testing.T) {
	l := open(t, "")
	var log output
	p := start(t, newHost(t, l, "r1"), server(&log))
	if p.Name() != "r1" || p.Addr() != "r1" || !strings.HasPrefix(p.Endpoint(), "127.0.0.1:") {
		t.Errorf("process %q at %q, reached at %q", p.Name(), p.Addr(), p.Endpoint())
	}
	// One connection from before the pause, as a worker has it.
	c := dial(p.Endpoint())
	defer c.Close()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	signal := func(sig syscall.Signal) {
		t.Helper()
		began := time.Now()
		if err := p.Signal(sig); err != nil {
			t.Fatal(err)
		}
		t.Logf("%v took %v", sig, time.Since(began).Round(time.Millisecond))
	}
	answer := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		return c.Ping(ctx).Err()
	}
	signal(syscall.SIGSTOP)
	signal(syscall.SIGSTOP) // as with the real signal, once more changes nothing
	if err := answer(); !os.IsTimeout(err) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused server answered: %v", err)
	}
	select {
	case <-p.(*container).done:
		t.Fatal("a paused container counts as ended")
	default:
	}
	signal(syscall.SIGCONT)
	signal(syscall.SIGCONT)
	if err := answer(); err != nil {
		t.Errorf("a server that goes on does not answer: %v", err)
	}
	signal(syscall.SIGKILL)
	if err := p.Wait(); err == nil || err.Error() != "docker: r1: exit status 137" {
		t.Errorf("Wait: %v, want exit status 137", err)
	}
	if err := answer(); err == nil {
		t.Error("a killed server answered")
	}
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGTERM, syscall.SIGKILL} {
		if err := p.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%v to an ended container: %v", sig, err)
		}
	}
	if !strings.Contains(log.String(), "Ready to accept connections") {
		t.Errorf("the log lacks the server's output: %q", log.String())
	}
}

func TestContainerKilledWhilePaused(t *testing.T) {
	p := start(t, newHost(t, open(t, ""), "r1"), server(nil))
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		if err := p.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-p.(*container).done:
	case <-time.After(5 * time.Second):
		t.Fatal("a paused container outlived SIGKILL by 5 s")
	}
}

func TestContainerEndsWell(t *testing.T) {
	p := start(t, newHost(t, open(t, ""), "r1"), server(nil))
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("Wait after SIGTERM: %v", err)
	}
}

// A server that is started again is found where it was, without its data.
func TestRestartKeepsTheEndpoint(t *testing.T) {
	h := newHost(t, open(t, ""), "r1")
	first := start(t, h, server(nil))
	c := dial(first.Endpoint())
	defer c.Close()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Start(t.Context(), server(nil)); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("a second program in a container: %v", err)
	}
	if err := first.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := start(t, h, server(nil))
	if second.Endpoint() != first.Endpoint() {
		t.Errorf("reached at %s, and at %s when started again", first.Endpoint(), second.Endpoint())
	}
	if n, err := c.DBSize(t.Context()).Result(); n != 0 || err != nil {
		t.Errorf("started again it holds %d keys, %v", n, err)
	}
}

// The containers of a lab must reach each other by the names of their hosts.
func TestContainersReachEachOther(t *testing.T) {
	l := open(t, "")
	master := newHost(t, l, "master")
	start(t, master, server(nil))
	replica := server(nil)
	replica.Argv = append(replica.Argv, "--replicaof", master.Addr(), "6379")
	p := start(t, newHost(t, l, "replica"), replica)
	c := dial(p.Endpoint())
	defer c.Close()
	var info string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if info = c.Info(t.Context(), "replication").Val(); strings.Contains(info, "master_link_status:up") {
			return
		}
	}
	t.Errorf("after 10 s the replica has no master: %s", info)
}

func TestCloseLeavesNothing(t *testing.T) {
	l := open(t, "")
	h := newHost(t, l, "r1")
	start(t, h, server(nil))
	paused := start(t, newHost(t, l, "r2"), server(nil))
	if err := paused.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	child := start(t, newHost(t, l, "w1"), lab.Program{Argv: []string{"sleep", "1000"}})
	if found := leftovers(t, os.Getpid()); len(found) != 3 {
		t.Errorf("an open lab has %q, want two containers and a network", found)
	}
	began := time.Now()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("Close took %v", time.Since(began).Round(time.Millisecond))
	if found := leftovers(t, os.Getpid()); len(found) != 0 {
		t.Errorf("a closed lab has left %q", found)
	}
	if err := child.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the child process ended with %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if _, err := h.Start(t.Context(), server(nil)); !errors.Is(err, errClosed) {
		t.Errorf("Start in a closed lab: %v", err)
	}
	if _, err := l.Host(t.Context(), "r3"); !errors.Is(err, errClosed) {
		t.Errorf("Host in a closed lab: %v", err)
	}
}

// A program without an image is a process of this machine.
func TestChildProcess(t *testing.T) {
	dir := t.TempDir()
	h := newHost(t, open(t, dir), "w1")
	var endpoint string
	p := start(t, h, lab.Program{
		Argv:  []string{"sh", "-c", "echo at {addr}:{port}; exec sleep 1000"},
		Port:  7000,
		Ready: func(_ context.Context, at string) error { endpoint = at; return nil },
	})
	if p.Addr() != "127.0.0.1" || p.Endpoint() != endpoint || strings.HasSuffix(endpoint, ":7000") {
		t.Errorf("process at %q, reached at %q, asked at %q", p.Addr(), p.Endpoint(), endpoint)
	}
	var log []byte
	for end := time.Now().Add(5 * time.Second); len(log) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		log, _ = os.ReadFile(filepath.Join(dir, "w1.log"))
	}
	if string(log) != "at "+endpoint+"\n" {
		t.Errorf("its log is %q, want %q", log, "at "+endpoint)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("Wait: %v", err)
	}
}
