//go:build consul

package peers

import (
	"testing"

	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestConsulConformance holds Consul's library to what its row claims.
func TestConsulConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	locktest.Run(t, ConsulLock(), locktest.Options{
		Servers:    labtest.Endpoints(labtest.Servers(t, "consul")),
		RoundTrips: locktest.RoundTrips{Acquire: 3, Release: 2},
	})
}
