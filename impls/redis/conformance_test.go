package redis

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// anyDelete is why a lock that is released by a plain DEL fails these checks.
func anyDelete() map[string]string {
	const why = "DEL does not look at whose lock it deletes"
	return map[string]string{"foreign-release": why, "second-release": why, "release-again": why, "expiry": why}
}

// row is an algorithm with what it claims.
type row struct {
	impl             lb.Impl
	topology         string
	acquire, release int // round trips
	deviates         map[string]string
}

// TestConformance holds every algorithm to its claims: one line a row. They share
// their servers, and take their time together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 4)
	servers := map[string][]string{} // of each topology
	for _, row := range []row{
		{SetNXExpire(), "redis", 2, 1, anyDelete()},
		{SetNXGetSet(), "redis", 1, 1, nil},
		{SetPXDel(), "redis", 1, 1, anyDelete()},
		{SetPXGetDel(), "redis", 1, 2, map[string]string{"release-again": "the answer that is lost is that of the look, and nothing has been deleted"}},
		{SetPXLua(), "redis", 1, 1, nil},
		{AOF(), "redis-aof", 1, 1, nil},
		{Watchdog(), "redis", 1, 1, nil},
		{WatchdogExpire(), "redis", 1, 1, nil},
		{Reentrant(), "redis", 1, 1, nil},
		{Fair(), "redis", 1, 1, nil},
		{ReadWrite(), "redis", 1, 1, nil},
		{Semaphore(3), "redis", 1, 1, nil},
		{Fenced(), "redis", 1, 1, nil},
		{Cluster(), "redis-cluster", 1, 1, nil},
		{Redlock(), "redis-5", 5, 5, nil},
		{RedlockRestartDelay(), "redis-5-delayed", 5, 5, nil},
		{RedlockWatchdog(), "redis-5", 5, 5, nil},
	} {
		if servers[row.topology] == nil {
			servers[row.topology] = labtest.Endpoints(labtest.Servers(t, row.topology))
		}
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			row.conforms(t, servers[row.topology], 1)
		})
	}
}

// TestSequentialConforms is the same of the one whose nodes have their time one after the other, before
// the others begin: each of five round trips must be soon enough.
func TestSequentialConforms(t *testing.T) {
	testkit.Share(t, 4)
	row{RedlockSequential(), "redis-5", 5, 5, nil}.conforms(t, labtest.Endpoints(labtest.Servers(t, "redis-5")), 3)
}

func (r row) conforms(t *testing.T, servers []string, patience float64) {
	hasty := ""
	if strings.HasPrefix(r.topology, "redis-5") {
		hasty = "each server has a twentieth of the lease to answer"
	}
	locktest.Run(t, r.impl, locktest.Options{
		Servers:    servers,
		Patience:   patience,
		RoundTrips: locktest.RoundTrips{Acquire: r.acquire, Release: r.release},
		Deviates:   r.deviates,
		Hasty:      hasty,
	})
}
