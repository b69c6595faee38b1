package redis

import (
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

// TestConformance holds every algorithm to its claims: one line a row. They share
// their servers, and take their time together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 4)
	servers := map[string][]string{} // of each topology
	for _, row := range []struct {
		impl             lb.Impl
		topology         string
		acquire, release int // round trips
		deviates         map[string]string
	}{
		{SetNXExpire(), "redis", 2, 1, anyDelete()},
		{SetNXGetSet(), "redis", 1, 1, nil},
		{SetPXDel(), "redis", 1, 1, anyDelete()},
		{SetPXGetDel(), "redis", 1, 2, map[string]string{"release-again": "the answer that is lost is that of the look, and nothing has been deleted"}},
		{SetPXLua(), "redis", 1, 1, nil},
		{Watchdog(), "redis", 1, 1, nil},
		{WatchdogExpire(), "redis", 1, 1, nil},
		{Reentrant(), "redis", 1, 1, nil},
		{Fair(), "redis", 1, 1, nil},
		{ReadWrite(), "redis", 1, 1, nil},
		{Fenced(), "redis", 1, 1, nil},
		{Redlock(), "redis-5", 5, 5, nil},
		{RedlockRestartDelay(), "redis-5-delayed", 5, 5, nil},
		{RedlockSequential(), "redis-5", 5, 5, nil},
		{RedlockWatchdog(), "redis-5", 5, 5, nil},
	} {
		if servers[row.topology] == nil {
			servers[row.topology] = labtest.Endpoints(labtest.Servers(t, row.topology))
		}
		hasty, patience := "", 1.
		if row.topology != "redis" {
			hasty = "each server has a twentieth of the lease to answer"
		}
		if row.impl.Info().Name == RedlockSequential().Info().Name {
			patience = 3 // the five have their time one after the other
		}
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers[row.topology],
				Patience:   patience,
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: row.release},
				Deviates:   row.deviates,
				Hasty:      hasty,
			})
		})
	}
}
