package languages_test

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// spoken are the checks that an adapter can fail by how it speaks the protocol, or by how it
// calls its library. make test has only these of all languages but one; make test-all has the
// others, which find where a library is another lock than its row says.
var spoken = []string{"exclusion", "wait", "cancel", "second-release", "release-answer", "crash", "server-hangs-later", "any-name", "token", "bound",
	"valid", "round-trips", "requests", "requests-clean-up", "session"}

// TestConformance holds an adapter of each kind of server, and of each protocol, to what it says of itself. They share their servers.
// make test-all has those on databases, too. The other rows are of the same programs, and their libraries much alike: lockbench conform
// has them. That of portalocker deviates by chance.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 5)
	servers := map[string][]string{} // of each topology
	all := []lb.Impl{languages.RedisPy(), languages.Kazoo(), languages.Curator(), languages.PythonEtcd3(), languages.SymfonyRedis()}
	if testkit.All() {
		all = append(all, languages.SymfonyPDO(), languages.ToozMySQL(), languages.ToozPostgreSQL(), languages.ToozMemcached())
	}
	for _, impl := range all {
		testkit.Need(t, impl.Info().Name, catalog.Ready(impl))
		at := impl.Info().Topologies[0]
		if servers[at] == nil {
			servers[at] = labtest.Endpoints(labtest.Servers(t, at))
		}
		d := impl.(foreign.Described).Conformance()
		t.Run(impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			only := spoken
			if testkit.All() || impl.Info().Name == languages.RedisPy().Info().Name {
				only = nil
			}
			locktest.Run(t, impl, locktest.Options{Only: only, Servers: servers[at], Deviates: d.Deviates, Rare: d.Rare, Patience: 2,
				RoundTrips: locktest.RoundTrips{Acquire: d.RoundTrips.Acquire, Release: d.RoundTrips.Release}})
		})
	}
}
