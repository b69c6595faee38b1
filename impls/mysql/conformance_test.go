package mysql

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// tiedDeviations are those of a lock that is tied to a connection, and others.
func tiedDeviations(others map[string]string) map[string]string {
	all := map[string]string{"hang": "the server keeps a silent connection for 8 hours (wait_timeout), and its lock"}
	for check, why := range others {
		all[check] = why
	}
	return all
}

// noIndexDeviations: locks with different names exclude each other.
func noIndexDeviations() map[string]string {
	const why = "without an index InnoDB locks the rows of all locks"
	return map[string]string{"hundred-locks": why, "any-name": why}
}

// apart gives each check of the suite, which runs them at the same time, a table
// of its own: of the locks of one table only one can be held.
type apart struct{ lb.Impl }

func (a apart) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	const table = "lockbench_forupdate_noindex"
	check, _, _ := strings.Cut(env.Client, ".")
	h := fnv.New64()
	h.Write([]byte(check))
	own := fmt.Sprintf("%s_%x", table, h.Sum(nil))
	alg := a.Impl.(sqllock.Algorithm)
	alg.Tables = []string{strings.Replace(noIndexTable, table, own, 1)}
	alg.Client = openForUpdate(own)
	return alg.Open(ctx, env)
}

// TestConformance holds every algorithm to its claims: one line a row. They share
// one server, and take their time together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	servers := labtest.Endpoints(labtest.Servers(t, "mariadb"))
	for _, row := range []struct {
		impl             lb.Impl
		acquire, release int // round trips
		deviates         map[string]string
	}{
		{Insert(), 1, 1, nil},
		{InsertTTL(), 1, 1, nil},
		{Queue(), 4, 1, nil},
		{Version(), 2, 1, nil},
		{ForUpdate(), 1, 1, tiedDeviations(nil)},
		{apart{ForUpdateNoIndex()}, 1, 1, tiedDeviations(noIndexDeviations())},
		{GetLock(), 1, 1, tiedDeviations(nil)},
	} {
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers,
				RoundTrips: locktest.RoundTrips{Acquire: row.acquire, Release: row.release},
				Deviates:   row.deviates,
			})
		})
	}
}
