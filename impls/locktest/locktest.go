// Package locktest holds locks to their claims in tests. A lock of your own joins with a
// few lines:
//
//	func TestMyLock(t *testing.T) {
//		locktest.Run(t, mylock.New(), locktest.Options{
//			Servers:    []string{"127.0.0.1:6379"},
//			RoundTrips: locktest.RoundTrips{Acquire: 1, Release: 1},
//		})
//	}
//
// Package conform says what is checked.
package locktest

import (
	"maps"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/impls/conform"
	"github.com/lockbench/lockbench/internal/testkit"
)

// Options are what the suite can't know from the algorithm itself.
type Options = conform.Options

// RoundTrips counts requests, over all servers and connections.
type RoundTrips = conform.RoundTrips

// Run holds impl to its claims, each check in a parallel subtest of its own. It needs
// RoundTrips, and takes about 10 s.
func Run(t *testing.T, impl lb.Impl, o Options) {
	t.Helper()
	if o.RoundTrips.Acquire == 0 {
		t.Fatal("locktest: Options.RoundTrips is required: say what an acquire and a release cost")
	}
	run(t, conform.New, impl, told(t, impl, o), (*testing.T).Parallel)
}

// RunRequests holds impl to what it says about its requests, and to nothing else, as
// [conform.Requests] does. It needs no RoundTrips.
func RunRequests(t *testing.T, impl lb.Impl, o Options) {
	t.Helper()
	run(t, conform.Requests, impl, told(t, impl, o), func(*testing.T) {})
}

// told is o with what the servers speak: as those of the topologies do that the lock is for.
func told(t *testing.T, impl lb.Impl, o Options) Options {
	t.Helper()
	for _, name := range impl.Info().Topologies {
		if top, ok := backends.Topology(name); ok && o.Speaks.Name == "" {
			o.Speaks = top.Kind.Speaks
		}
	}
	if len(o.Servers) > 0 && o.Speaks.Name == "" {
		t.Fatal("locktest: Options.Speaks is required for a lock on topologies of your own: Kind.Speaks of one of lockbench's")
	}
	return o
}

// suites makes one of a lock and what is known of it.
type suites func(lb.Impl, Options) (*conform.Suite, error)

func run(t *testing.T, of suites, impl lb.Impl, o Options, begin func(*testing.T)) {
	t.Helper()
	s, err := of(impl, o)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	for _, check := range s.Checks() {
		t.Run(check, func(t *testing.T) {
			begin(t)
			verdict(t, tried(func(again bool) conform.Result {
				if again {
					return alone(t, of, impl, o, check)
				}
				return s.Do(t.Context(), check)
			}, func(r conform.Result) bool {
				busy := testkit.Busy(t.Context())
				if busy {
					t.Logf("this machine was too busy to say: %s", r)
				}
				return busy
			}))
		})
	}
	t.Cleanup(func() { // when they have ended
		if r, ok := s.Last(); ok { // else -run has left some out
			verdict(t, r)
		}
	})
}

// tried does a check, and again where it fails and a busy machine may have been the reason: for seconds a program
// may not get a processor there, which says nothing of the lock. A lock that is wrong is so each time.
func tried(do func(again bool) conform.Result, busy func(conform.Result) bool) (r conform.Result) {
	const tries = 3
	for n := range tries {
		if r = do(n > 0); r.OK() || !busy(r) {
			break
		}
	}
	return r
}

// alone does one check of a suite of its own: what another has left is not in its way. It waits for a while
// for a machine that has time for it.
func alone(t *testing.T, of suites, impl lb.Impl, o Options, check string) conform.Result {
	t.Helper()
	const calm = 30 * time.Second
	for start := time.Now(); time.Since(start) < calm && testkit.Busy(t.Context()); {
	}
	o.Only, o.Deviates = []string{check}, maps.Clone(o.Deviates)
	maps.DeleteFunc(o.Deviates, func(name, _ string) bool { return name != check })
	s, err := of(impl, o)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	return s.Do(t.Context(), check)
}

func verdict(t *testing.T, r conform.Result) {
	t.Helper()
	if !r.OK() {
		t.Error(r)
	} else if r.Err != nil {
		t.Log(r)
	}
}
