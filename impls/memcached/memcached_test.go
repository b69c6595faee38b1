package memcached

import (
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestConformance holds every algorithm to its claims: one line a row. They share one server, and take their time
// together.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	const anybodys = "delete does not look at whose lock it deletes"
	servers := labtest.Endpoints(labtest.Servers(t, "memcached"))
	for _, row := range []struct {
		impl     lb.Impl
		release  int // round trips
		deviates map[string]string
	}{
		{AddDelete(), 1, map[string]string{"foreign-release": anybodys, "second-release": anybodys, "release-again": anybodys, "expiry": anybodys}},
		{AddCas(), 2, map[string]string{"release-again": "the answer that is lost is that of the look, and nothing has been given back"}},
	} {
		t.Run(row.impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, row.impl, locktest.Options{
				Servers:    servers,
				RoundTrips: locktest.RoundTrips{Acquire: 1, Release: row.release},
				Deviates:   row.deviates,
			})
		})
	}
}

// TestSeconds: an item is kept for more than two seconds less than it is stored for, which must be as long as the lease.
func TestSeconds(t *testing.T) {
	for lease, want := range map[time.Duration]int{time.Millisecond: 3, time.Second: 3, time.Second + 1: 4, 3300 * time.Millisecond: 6} {
		if got := seconds(lease); got != want {
			t.Errorf("for %v: %d, want %d", lease, got, want)
		}
	}
}

// TestKey: a name of any length is a key of its own.
func TestKey(t *testing.T) {
	met := map[string]string{}
	for _, name := range []string{"lockbench:a", "lockbench: a", "lockbench:+a", "lockbench:%20a", strings.Repeat("ä", 200) + "1", strings.Repeat("ä", 200) + "2"} {
		k := key(name)
		if len(k) > 250 || strings.ContainsAny(k, " \r\n") {
			t.Errorf("%q is no key", k)
		}
		if met[k] != "" {
			t.Errorf("%q and %q are both %q", met[k], name, k)
		}
		met[k] = name
	}
}
