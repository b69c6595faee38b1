package redisconn

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) { labtest.Main(m) }

const ttl = time.Second

func dial(t *testing.T, servers []string) ([]*redis.Client, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	nodes, err := Dial(ctx, &lb.Env{Servers: servers, TTL: ttl})
	t.Cleanup(func() { Close(nodes) })
	return nodes, err
}

// TestDial: a client can begin as soon as a majority of its servers is there.
func TestDial(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	up := labtest.Endpoints(labtest.Servers(t, "redis-5"))
	const down = "127.0.0.1:1" // a port that was free a moment ago may be another test's by now
	if nodes, err := dial(t, append([]string{down, down}, up[:3]...)); err != nil || len(nodes) != 5 {
		t.Errorf("three of five: %d clients, %v", len(nodes), err)
	}
	if _, err := dial(t, append([]string{down, down, down}, up[:2]...)); err == nil {
		t.Error("two of five are no majority")
	}
	if _, err := dial(t, nil); err == nil {
		t.Error("no server at all")
	}
}

// TestAsk: the time of a request ends it, and a caller who is not interested any more does
// not, since what is on its way must not become an unknown.
func TestAsk(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	server := labtest.Servers(t, "redis")[0]
	nodes, err := dial(t, []string{server.Endpoint()})
	if err != nil {
		t.Fatal(err)
	}
	ping := func(ctx context.Context) error {
		_, err := Ask(ctx, func(ctx context.Context) (string, error) { return nodes[0].Ping(ctx).Result() })
		return err
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := ping(gone); err != nil {
		t.Errorf("the caller has left: %v", err)
	}

	if err := server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	const patience = ttl / 5
	asked := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = ping(ctx)
	if waited := time.Since(asked); !errors.Is(err, context.DeadlineExceeded) || waited < patience {
		t.Errorf("a server that does not answer for %v: %v, after %v", patience, err, waited)
	}
	if err := server.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// TestRefused tells what can't have had an effect from what may have had one.
func TestRefused(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	server := labtest.Servers(t, "redis")[0]
	nodes, err := dial(t, []string{server.Endpoint()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := nodes[0].ConfigSet(ctx, "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		err  error
		none bool // it had no effect
	}{
		{"the server is out of memory", nodes[0].SetNX(ctx, "lock", "me", ttl).Err(), true},
		{"it has no such key", nodes[0].Get(ctx, "lock").Err(), false},
		{"the answer never came", context.DeadlineExceeded, false},
		{"the request did not leave", lb.ErrNotSent, true},
	} {
		if got := errors.Is(Refused(c.err), lb.ErrNoEffect); c.err == nil || got != c.none {
			t.Errorf("%s: no effect is %v of %v", c.name, got, c.err)
		}
	}
}
