//go:build consul

package consul

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestConformance holds every algorithm to its claims: one line a row. They share their servers, and take their time
// together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	const delay = "nobody is granted the lock for 15 s after its session has ended"
	servers := map[string][]string{} // of each topology
	for _, row := range []struct {
		impl     lb.Impl
		topology string
		deviates map[string]string
	}{
		{Session(), "consul", map[string]string{"crash": delay, "hang": delay}},
		{NoDelay(), "consul", nil},
		{NoDelay(), "consul-3", nil},
	} {
		if servers[row.topology] == nil {
			servers[row.topology] = labtest.Endpoints(labtest.Servers(t, row.topology))
		}
		t.Run(row.impl.Info().Name+" on "+row.topology, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers[row.topology],
				RoundTrips: locktest.RoundTrips{Acquire: 2, Release: 1},
				Deviates:   row.deviates,
			})
		})
	}
}
