package postgres

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestConformance holds every algorithm to its claims: one line a row. They share one server, and take their time
// together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 6)
	const silent = "the server keeps a silent connection for two hours (tcp_keepalives_idle), and its lock"
	servers := labtest.Endpoints(labtest.Servers(t, "postgres"))
	for _, row := range []struct {
		impl             lb.Impl
		acquire, release int // round trips
		deviates         map[string]string
		rare             map[string]string
	}{
		{Advisory(), 1, 1, map[string]string{"hang": silent}, nil},
		{AdvisoryXact(), 2, 1, map[string]string{"hang": silent}, nil},
		{ForUpdate(), 2, 1, map[string]string{"hang": silent}, nil},
		{SkipLocked(), 2, 1, map[string]string{"hang": silent},
			map[string]string{"kill": "no client waits in the server, which may have seen for itself that a connection is gone"}},
		{Insert(), 1, 1, nil, nil},
	} {
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers,
				Patience:   2, // a lock that is a session's takes a connection each, and that is a process of the server's
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: row.release},
				Deviates:   row.deviates,
				Rare:       row.rare,
			})
		})
	}
}
