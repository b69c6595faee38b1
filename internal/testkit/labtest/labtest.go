// Package labtest gives tests real servers on this machine's loopback addresses:
// no namespaces, no faults, only the lock services of the topologies.
package labtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/backends/etcd/etcdserver"
	"github.com/lockbench/lockbench/backends/kubernetes/controlplane"
	"github.com/lockbench/lockbench/backends/nats/natsserver"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
)

// Main is the TestMain of packages that need servers: the test's own program is
// started again for the servers that lockbench contains.
func Main(m *testing.M) {
	lab.Direct()
	testkit.Main(m, Builtin)
}

// Builtin is the program that the tests' own has to be for the servers that lockbench contains.
func Builtin(args []string) int {
	servers := map[string]func(context.Context, []string) error{
		"etcd": etcdserver.Serve, "nats-server": natsserver.Serve, "control-plane": controlplane.Serve,
	}
	serve := servers[args[0]]
	if serve == nil {
		fmt.Fprintf(os.Stderr, "labtest: this program is etcd, nats-server or control-plane, not %q\n", args[0])
		return 1
	}
	if err := serve(context.Background(), args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Places is how many of the machine's places a lab of the topology takes: see [testkit.Share].
func Places(top lab.Topology) int { return 1 + top.Servers/3 }

// Servers starts the topology for the time of the test and returns its processes,
// in order. Without the server's program the test is skipped, or fails in CI.
func Servers(t testing.TB, topology string) []*lab.Server {
	t.Helper()
	top, ok := backends.Topology(topology)
	if !ok {
		t.Fatalf("no topology %q", topology)
	}
	return ServersOf(t, top)
}

// ServersOf is [Servers] of a topology that somebody has changed.
func ServersOf(t testing.TB, top lab.Topology) []*lab.Server {
	t.Helper()
	testkit.Need(t, top.Name, top.Kind.Missing())
	l := loopbackOf(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	logs := t.TempDir()
	service, err := lab.StartService(ctx, l, top, lab.Options{Log: func(name string) (*os.File, error) {
		return os.OpenFile(filepath.Join(logs, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return service.Servers
}

// Start starts any program for the time of the test, and returns it when it is ready.
func Start(t testing.TB, p lab.Program) lab.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h, err := loopbackOf(t).Host(ctx, "own", "")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.Log = log
	t.Cleanup(func() {
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said:\n%s", p.Argv[0], text)
		}
	})
	process, err := h.Start(ctx, p)
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("%v\n%s", err, text)
	}
	return process
}

// Lab is one whose hosts are addresses of this machine, for the time of the test.
func Lab(t testing.TB) lab.Lab { return loopbackOf(t) }

func loopbackOf(t testing.TB) *loopback {
	t.Helper()
	l, err := newLoopback()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Endpoints are the addresses of servers, as an Env wants them.
func Endpoints(servers []*lab.Server) []string { return lab.Endpoints(servers) }

// loopback is a lab whose hosts are addresses of 127.0.0.0/8, so that servers
// keep their own ports.
type loopback struct {
	thread  *lab.Launcher
	scratch string

	mu       sync.Mutex
	children []*lab.Child
}

// hosts counts the addresses that this process has used.
var hosts atomic.Uint32

func newLoopback() (*loopback, error) {
	thread, err := lab.NewLauncher(nil)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "lockbench-test-")
	if err != nil {
		return nil, err
	}
	return &loopback{thread: thread, scratch: scratch}, nil
}

func (l *loopback) Network() lab.Network { return nil }

// Host gives out 127.A.B.C, where A and B come from the process id: tests of
// several packages run at the same time. A is not 0, where others listen.
func (l *loopback) Host(_ context.Context, name, _ string) (lab.Host, error) {
	pid, n := os.Getpid(), hosts.Add(1)
	if n > 254 {
		return nil, fmt.Errorf("no address is left for %s", name)
	}
	addr := fmt.Sprintf("127.%d.%d.%d", 1+pid>>8%250, pid%256, n)
	return &loopbackHost{lab: l, place: lab.Place{Name: name, Addr: addr, Dir: filepath.Join(l.scratch, name)}}, nil
}

func (l *loopback) Close() error {
	for _, c := range l.children {
		c.Kill()
	}
	l.thread.Close()
	return os.RemoveAll(l.scratch)
}

type loopbackHost struct {
	lab   *loopback
	place lab.Place
}

func (h *loopbackHost) Name() string { return h.place.Name }
func (h *loopbackHost) Addr() string { return h.place.Addr }

func (h *loopbackHost) Start(ctx context.Context, p lab.Program) (lab.Process, error) {
	if err := os.MkdirAll(h.place.Dir, 0o755); err != nil {
		return nil, err
	}
	if p.Fresh {
		if err := lab.Empty(h.place.Dir, p); err != nil {
			return nil, err
		}
	}
	c, err := lab.StartChild(ctx, h.lab.thread, h.place, p)
	if err != nil {
		return nil, err
	}
	h.lab.mu.Lock()
	defer h.lab.mu.Unlock()
	h.lab.children = append(h.lab.children, c)
	return c, nil
}
