package docker

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockbench/lockbench/internal/testenv"
	"github.com/lockbench/lockbench/lab"
)

// open makes a lab, or ends the test where there is no engine or image for one.
func open(t *testing.T, dir string) *containerLab {
	t.Helper()
	testenv.Need(t, "a container engine with the redis image", Check(t.Context(), "redis"))
	l, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l.(*containerLab)
}

func newHost(t *testing.T, l lab.Lab, name string) lab.Host {
	t.Helper()
	h, err := l.Host(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func start(t *testing.T, h lab.Host, p lab.Program) lab.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	began := time.Now()
	proc, err := h.Start(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s ready after %v", h.Name(), time.Since(began).Round(time.Millisecond))
	return proc
}

// The tests break servers on purpose; go-redis need not say so once more.
func init() { logging.Disable() }

// dial is a client that does nothing twice and heeds its context.
func dial(endpoint string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: endpoint, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
}

func ping(ctx context.Context, endpoint string) error {
	c := dial(endpoint)
	defer c.Close()
	return c.Ping(ctx).Err()
}

// server is a Redis that keeps nothing on disk.
func server(log *output) lab.Program {
	p := lab.Program{
		Argv:  []string{"redis-server", "--bind", "{addr}", "--port", "{port}", "--save", "", "--protected-mode", "no"},
		Image: "redis",
		Port:  6379,
		Ready: ping,
	}
	if log != nil {
		p.Log = log
	}
	return p
}

// output is a buffer that may be read while a program writes to it.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// leftovers are the containers and networks on the lab's label whose owner label
// says pid.
func leftovers(t *testing.T, pid int) (found []string) {
	t.Helper()
	engine, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	mine := make(client.Filters).Add("label", labelLab+"=1", fmt.Sprintf("%s=%d", labelPID, pid))
	containers, err := engine.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: mine})
	if err != nil {
		t.Fatal(err)
	}
	networks, err := engine.NetworkList(t.Context(), client.NetworkListOptions{Filters: mine})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers.Items {
		found = append(found, "container "+strings.TrimPrefix(c.Names[0], "/"))
	}
	for _, n := range networks.Items {
		found = append(found, "network "+n.Name)
	}
	return found
}
