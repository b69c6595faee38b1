package docker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
)

// TestMain: the tests' own program is what lockbench is in a container.
func TestMain(m *testing.M) {
	var err error
	switch verb := append(os.Args, "", "")[1]; verb {
	case "idle":
		err = lab.Idle()
	case "stallable":
		err = lab.Stallable(os.Args[2:])
	case "confined":
		err = lab.Confined(os.Args[2:])
	default:
		logging.Disable() // the tests break servers on purpose; go-redis need not say so once more
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// inside opens the lab that this test is in. From outside it runs the test again, in a
// lab of its own, reports how it ended, and returns nil.
func inside(t *testing.T) lab.Lab {
	t.Helper()
	if os.Getenv(variable) != "" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		t.Cleanup(cancel)
		l, err := Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		return l
	}
	testkit.Need(t, "a container engine with the redis image", Check(t.Context(), redisImage))
	testkit.Share(t, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	thread, leave, err := Enter(ctx, cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer thread.Close()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := thread.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("inside of the lab: %v\n%s", err, said.String())
	}
	if err := leave(); err != nil {
		t.Error(err)
	}
	if left := leftovers(t, os.Getpid()); len(left) > 0 {
		t.Errorf("a lab that was left is still there: %q", left)
	}
	return nil
}

func newHost(t *testing.T, l lab.Lab, name, image string) lab.Host {
	t.Helper()
	began := time.Now()
	h, err := l.Host(t.Context(), name, image)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s made in %v", name, time.Since(began).Round(time.Millisecond))
	return h
}

func start(t *testing.T, h lab.Host, p lab.Program) lab.Process {
	t.Helper()
	proc, err := h.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return proc
}

// dial is a client that does nothing twice and heeds its context.
func dial(endpoint string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: endpoint, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
}

// answers asks the server, and waits for 300 ms.
func answers(t *testing.T, c *redis.Client) error {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	return c.Ping(ctx).Err()
}

// server is a Redis that has every command on its disk.
func server() lab.Program {
	return lab.Program{
		Argv: []string{"redis-server", "--bind", "{addr}", "--port", "{port}", "--dir", "{dir}", "--save", "",
			"--appendonly", "yes", "--protected-mode", "no"},
		Port: 6379,
		Ready: func(ctx context.Context, endpoint string) error {
			c := dial(endpoint)
			defer c.Close()
			return c.Ping(ctx).Err()
		},
	}
}

// leftovers are the containers and networks of labs whose owner label says pid.
func leftovers(t *testing.T, pid int) (found []string) {
	t.Helper()
	engine, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	theirs := make(client.Filters).Add("label", fmt.Sprintf("%s=%d", labelPID, pid))
	containers, err := engine.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: theirs})
	if err != nil {
		t.Fatal(err)
	}
	networks, err := engine.NetworkList(t.Context(), client.NetworkListOptions{Filters: theirs})
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
