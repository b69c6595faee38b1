//go:build apiserver

package kubernetes

import (
	"testing"

	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestConformance holds the row to its claims, on one server and on three.
func TestConformance(t *testing.T) {
	t.Parallel()
	lacks := map[string]string{}
	for _, check := range []string{"any-name", "second-release", "foreign-release", "renewal", "hundred-locks", "release-again", "reentrant"} {
		lacks[check] = "an election has no try"
	}
	for _, topology := range []string{"kubernetes", "kubernetes-3"} {
		t.Run(topology, func(t *testing.T) {
			testkit.Share(t, 4)
			locktest.Run(t, Lease(), locktest.Options{
				Servers:    labtest.Endpoints(labtest.Servers(t, topology)),
				RoundTrips: locktest.RoundTrips{Acquire: 2, Release: 3}, // whoever leads renews at once
				Deviates:   lacks,
			})
		})
	}
}
