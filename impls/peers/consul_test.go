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
	const (
		delay = "nobody is granted the lock for 15 s after its session has ended"
		deaf  = "it looks whether its caller still wants the lock when its question is answered, after up to 15 s"
	)
	locktest.Run(t, ConsulLock(), locktest.Options{
		Servers:    labtest.Endpoints(labtest.Servers(t, "consul")),
		RoundTrips: locktest.RoundTrips{Acquire: 3, Release: 2},
		Deviates: map[string]string{"crash": delay, "hang": delay, "deadline": deaf, "cancel": deaf,
			"lost-notice": "its question whether the lock is held has no end where the server is silent",
			"round-trips": "beside its caller it asks whether the lock is held, and ends the session"},
	})
}
