package nats

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestConformance holds every algorithm to its claims: one line a row. They share their servers, and take their time
// together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	const anybodys = "the marker is written whoever's key is there"
	servers := map[string][]string{} // of each topology
	for _, row := range []struct {
		impl     lb.Impl
		topology string
		acquire  int // round trips
		deviates map[string]string
	}{
		{KV(), "nats", 2, nil},
		{AnyDelete(), "nats", 2, map[string]string{"foreign-release": anybodys, "second-release": anybodys, "release-again": anybodys, "expiry": anybodys}},
		{Lease(), "nats", 2, nil},
		{KV(), "nats-3", 2, nil},
	} {
		if servers[row.topology] == nil {
			servers[row.topology] = labtest.Endpoints(labtest.Servers(t, row.topology))
		}
		t.Run(row.impl.Info().Name+" on "+row.topology, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers[row.topology],
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: 1},
				Deviates:   row.deviates,
			})
		})
	}
}
