package published

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestRequests: what the listings send is what they say that they send, though most
// are no locks: one line a row.
func TestRequests(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	servers := map[string][]string{} // of each topology
	for _, row := range []struct {
		impl  lb.Impl
		first string            // how its acquisitions do not all begin with the same request
		rare  map[string]string // what is not sent for certain
	}{
		{Lettuce(), "a thread's second lock sends nothing at all", nil},
		{Jetcd(), "", nil},
		{RedisLockUtil(), "", nil},
		{RedisLockUtil2(), "", map[string]string{"del": "of a lock that is not over yet, two milliseconds after it was taken"}},
		{ZKDistributedLock(), "", nil},
		{ZKImproveLock(), "the first lock of an object does not look at the queue's size", nil},
	} {
		topology := row.impl.Info().Topologies[0]
		if servers[topology] == nil {
			servers[topology] = labtest.Endpoints(labtest.Servers(t, topology))
		}
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			o := locktest.Options{Servers: servers[topology], Rare: row.rare}
			if row.first != "" {
				o.Deviates = map[string]string{"requests-first": row.first}
			}
			locktest.RunRequests(t, row.impl, o)
		})
	}
}
