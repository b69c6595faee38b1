package etcd

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// sameSession is how the library's Mutex is not what it seems.
func sameSession() map[string]string {
	return map[string]string{"reentrant": "a session that holds the lock is granted it again, and the first unlock frees it"}
}

// TestConformance holds every algorithm to its claims: one line a row. They share
// their servers, and take their time together.
func TestConformance(t *testing.T) {
	servers := map[string][]string{} // of each topology
	for _, row := range []struct {
		impl             lb.Impl
		topology         string
		acquire, release int // round trips
		deviates         map[string]string
	}{
		{Lease(), "etcd", 1, 1, nil},
		{Lease(), "etcd-3", 1, 1, nil},
		{Mutex(), "etcd", 1, 1, sameSession()},
		{V3Lock(), "etcd", 2, 2, nil},
	} {
		if servers[row.topology] == nil {
			servers[row.topology] = labtest.Endpoints(labtest.Servers(t, row.topology))
		}
		t.Run(row.impl.Info().Name+" on "+row.topology, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers[row.topology],
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: row.release},
				Deviates:   row.deviates,
				Rare:       map[string]string{"unwatch": "the library closes the stream instead, unless another watch has begun on it"},
			})
		})
	}
}
