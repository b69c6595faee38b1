package backends_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/workloads/guard/guardtest"
)

// TestGuards: every database of the list refuses who comes late.
func TestGuards(t *testing.T) {
	for _, k := range backends.Stores() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 1)
			guardtest.Walk(t, k, labtest.Endpoints(labtest.Servers(t, k.Topology))[0])
		})
	}
}
