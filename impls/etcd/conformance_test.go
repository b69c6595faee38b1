package etcd

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// sameSession is how the library's Mutex is not what it seems.
func sameSession() map[string]string {
	return map[string]string{"reentrant": "a session that holds the lock is granted it again, and the first unlock frees it"}
}

// noTry names the checks that want an answer at once.
func noTry(lacks map[string]string) map[string]string {
	for _, check := range []string{"any-name", "second-release", "foreign-release", "renewal", "hundred-locks", "release-again"} {
		lacks[check] = "an election has no try"
	}
	return lacks
}

// clustered are the checks in which it may matter that three servers agree. make test has only
// these of a row that it has on one server, too; make test-all has all.
var clustered = []string{"exclusion", "wait", "crash", "hang", "server-hangs", "server-hangs-later", "token", "round-trips", "requests", "session"}

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
		again            bool // it is above, on one server
	}{
		{Lease(), "etcd", 1, 1, nil, false},
		{Lease(), "etcd-3", 1, 1, nil, true},
		{Mutex(), "etcd", 1, 1, sameSession(), false},
		{Election(), "etcd", 2, 1, noTry(sameSession()), false},
		{V3Lock(), "etcd", 2, 2, nil, false},
	} {
		if servers[row.topology] == nil {
			servers[row.topology] = labtest.Endpoints(labtest.Servers(t, row.topology))
		}
		t.Run(row.impl.Info().Name+" on "+row.topology, func(t *testing.T) {
			t.Parallel()
			var only []string
			if row.again && !testkit.All() {
				only = clustered
			}
			locktest.Run(t, row.impl, locktest.Options{
				Only:       only,
				Servers:    servers[row.topology],
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: row.release},
				Deviates:   row.deviates,
				Rare:       map[string]string{"unwatch": "the library closes the stream instead, unless another watch has begun on it"},
			})
		})
	}
}
