package sqllock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/impls/mysql"
	"github.com/lockbench/lockbench/impls/postgres"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// sessions are those that a client has told of, the last one last.
type sessions struct{ names []string }

func (s *sessions) Step(ctx context.Context, _ lb.Move) error { return ctx.Err() }
func (s *sessions) Wait(context.Context, lb.Move) func()      { return func() {} }
func (s *sessions) Go(lb.Actor) func()                        { return func() {} }
func (s *sessions) Renewed(*lb.Lease, lb.Reading)             {}
func (s *sessions) Lost(*lb.Lease, string)                    {}
func (s *sessions) Session(name string)                       { s.names = append(s.names, name) }

// TestConnectionLost: a lock that is tied to a connection is lost with it. Its holder is told, the next one has it at once,
// and the holder has another connection for the next time, of which nobody is told that it was locked.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	for topology, locks := range map[string][]lb.Impl{
		"mariadb":  {mysql.ForUpdate(), mysql.GetLock()},
		"postgres": {postgres.Advisory(), postgres.AdvisoryXact(), postgres.ForUpdate(), postgres.SkipLocked()},
	} {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 1)
			servers := labtest.Endpoints(labtest.Servers(t, topology))
			for _, lock := range locks {
				t.Run(lock.Info().Name, func(t *testing.T) { connectionLost(t, lock, topology, servers) })
			}
		})
	}
}

// client is one of a real server.
type client struct {
	*testing.T
	lb.Client
	sessions
	topology, server, name string
	count                  int
}

const realTTL = 3 * time.Second // in which PostgreSQL begins a session, on a busy machine

func opened(t *testing.T, lock lb.Impl, topology string, servers []string, name string) *client {
	t.Helper()
	c := &client{T: t, topology: topology, server: servers[0], name: name}
	var err error
	c.Client, err = lock.Open(t.Context(), &lb.Env{Client: name, Servers: servers, TTL: realTTL, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1)), Probe: &c.sessions})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Client.Close() })
	return c
}

func (c *client) acquire() (lb.Request, *lb.Lease, error) {
	c.count++
	req := lb.Request{Lock: "lock", Owner: fmt.Sprint(c.name, c.count)}
	ctx, cancel := context.WithTimeout(c.Context(), 10*realTTL)
	defer cancel()
	lease, err := c.Acquire(ctx, req)
	return req, lease, err
}

func (c *client) acquired() (lb.Request, *lb.Lease) {
	c.Helper()
	req, lease, err := c.acquire()
	if err != nil {
		c.Fatal(err)
	}
	return req, lease
}

func (c *client) release(req lb.Request, want error) {
	c.Helper()
	if err := c.Release(c.Context(), req); !errors.Is(err, want) {
		c.Fatalf("release: %v, want %v", err, want)
	}
}

// end has the server end the connection that the client's locks were tied to last.
func (c *client) end() {
	c.Helper()
	top, _ := backends.Topology(c.topology)
	if knew, err := top.Kind.End(c.Context(), c.server, c.names[len(c.names)-1]); err != nil || !knew {
		c.Fatalf("the server knew the connection: %v, %v", knew, err)
	}
}

func connectionLost(t *testing.T, lock lb.Impl, topology string, servers []string) {
	holder, next := opened(t, lock, topology, servers, "holder"), opened(t, lock, topology, servers, "next")
	req, lease := holder.acquired()
	holder.end()
	select {
	case <-lease.Lost():
	case <-time.After(realTTL):
		t.Fatal("the holder was not told within a TTL")
	}
	later, _ := next.acquired()
	holder.release(req, lb.ErrLost)
	next.release(later, nil)

	// One that ends while nobody has a lock is found out by the first who wants one, who certainly got none.
	again, _ := holder.acquired()
	holder.release(again, nil)
	before := len(holder.names)
	holder.end()
	if _, _, err := holder.acquire(); lb.AnswerOf(err) != lb.AnswerFailed || errors.Is(err, lb.ErrHeld) {
		t.Fatalf("by a connection that has ended: %v", err)
	}
	last, _ := holder.acquired()
	if len(holder.names) != before+1 {
		t.Fatalf("the client has told of %q", holder.names)
	}
	holder.release(last, nil)
}
