package zk_test

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/impls/zk"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// What each algorithm costs where nobody else wants the lock: a create and, in a
// queue, a look at it; and a delete.
var (
	create         = locktest.RoundTrips{Acquire: 1, Release: 1}
	createChildren = locktest.RoundTrips{Acquire: 2, Release: 1}
)

// TestConformance holds every algorithm to its claims: one line a row.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 4)
	one, three := labtest.Endpoints(labtest.Servers(t, "zookeeper")), labtest.Endpoints(labtest.Servers(t, "zookeeper-3"))
	for _, row := range []struct {
		name    string
		impl    lb.Impl
		servers []string
		trips   locktest.RoundTrips
	}{
		{"herd", zk.Herd(), one, create},
		{"sequential", zk.Sequential(), one, create},
		{"sequential-ensemble", zk.Sequential(), three, create},
		{"container", zk.Container(), one, createChildren},
		{"ttl", zk.TTL(), one, createChildren},
		{"rw", zk.RW(), one, create},
		{"semaphore", zk.Semaphore(3), one, createChildren},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{Servers: row.servers, RoundTrips: row.trips,
				Rare: map[string]string{"read": "only what was created without an answer, and is found again, is read"}})
		})
	}
}
