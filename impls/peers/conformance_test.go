package peers

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestConformance holds every library to what it claims: one line a row.
func TestConformance(t *testing.T) {
	for _, row := range []struct {
		impl             lb.Impl
		topology         string
		acquire, release int // round trips
		deviates         map[string]string
	}{
		{Redsync(), "redis-5", 5, 5, nil},
		{Redislock(), "redis", 1, 1, nil},
		{Rueidislock(), "redis", 2, 1, nil},
		{ZKLock(), "zookeeper", 2, 1, zkLockLacks()},
	} {
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    labtest.Endpoints(labtest.Servers(t, row.topology)),
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: row.release},
				Deviates:   row.deviates,
			})
		})
	}
}

// zkLockLacks names the checks that need what zk.Lock does not have.
func zkLockLacks() map[string]string {
	lacks := map[string]string{}
	for _, check := range []string{"try", "reentrant", "any-name", "foreign-release", "second-release", "hundred-locks"} {
		lacks[check] = "zk.Lock has no try"
	}
	for _, check := range []string{"deadline", "cancel"} {
		lacks[check] = "a Lock that waits can't be ended, and keeps its place in the queue"
	}
	return lacks
}
