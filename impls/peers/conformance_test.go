package peers

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestConformance holds every library to what it claims: one line a row. They share
// their servers, and take their time together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	servers := map[string][]string{} // of each topology
	for _, row := range []struct {
		impl             lb.Impl
		topology         string
		acquire, release int // round trips
		deviates         map[string]string
		renewals         int
		rare             map[string]string
		hasty            string
		patience         float64 // where others work, too, it needs more tries
	}{
		{Redsync(), "redis-5", 5, 5, goRedisLacks(), 0, nil, "each server has a twentieth of the lease to answer", 0},
		{Redislock(), "redis", 1, 1, goRedisLacks(), 0, nil, "", 0},
		{SetNX(), "redis", 1, 1, goRedisLacks(), 0, nil, "", 0},
		// Each of its three keys is renewed whenever an invalidation says that it changed,
		// and sometimes its own renewal is what changed it: 10,000 a second were seen.
		{Rueidislock(), "redis", 2, 3, nil, 3, map[string]string{
			"renew-eval": "only the first renewal on a server sends the script, and an invalidation may bring it before the lock is granted"},
			"each key has 20 ms to be taken", 3},
		{ZKLock(), "zookeeper", 2, 1, zkLockLacks(), 0, nil, "", 0},
		{GooseTable(), "postgres", 2, 1, nil, 1, nil, "", 2},
		{GooseSession(), "postgres", 1, 1, gooseSessionLacks(), 0, nil, "", 3},
	} {
		if servers[row.topology] == nil {
			servers[row.topology] = labtest.Endpoints(labtest.Servers(t, row.topology))
		}
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers[row.topology],
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: row.release},
				Deviates:   row.deviates,
				Renewals:   row.renewals,
				Rare:       row.rare,
				Hasty:      row.hasty,
				Patience:   row.patience,
			})
		})
	}
}

// goRedisLacks names the checks that end a context while no server answers.
func goRedisLacks() map[string]string {
	lacks := map[string]string{}
	for _, check := range []string{"release-again", "server-hangs", "server-hangs-later"} {
		lacks[check] = "go-redis waits for an answer for 5 s, whatever the context says, unless it is told otherwise"
	}
	return lacks
}

// zkLockLacks names the checks that need what zk.Lock does not have.
func zkLockLacks() map[string]string {
	lacks := map[string]string{}
	for _, check := range []string{"reentrant", "any-name", "foreign-release", "second-release", "release-again", "hundred-locks"} {
		lacks[check] = "zk.Lock has no try"
	}
	for _, check := range []string{"deadline", "cancel"} {
		lacks[check] = "a Lock that waits can't be ended, and keeps its place in the queue"
	}
	return lacks
}

// gooseSessionLacks names the checks that need what a SessionLocker does not have.
func gooseSessionLacks() map[string]string {
	lacks := map[string]string{}
	for _, check := range []string{"reentrant", "any-name", "foreign-release", "second-release", "release-again", "hundred-locks"} {
		lacks[check] = "a SessionLocker has no try"
	}
	lacks["hang"] = "the server keeps a silent connection for two hours (tcp_keepalives_idle), and its lock"
	return lacks
}
