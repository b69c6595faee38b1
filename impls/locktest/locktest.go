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
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/impls/conform"
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
	s, err := conform.New(impl, told(t, impl, o))
	run(t, s, err, (*testing.T).Parallel)
}

// RunRequests holds impl to what it says about its requests, and to nothing else, as
// [conform.Requests] does. It needs no RoundTrips.
func RunRequests(t *testing.T, impl lb.Impl, o Options) {
	t.Helper()
	s, err := conform.Requests(impl, told(t, impl, o))
	run(t, s, err, func(*testing.T) {})
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

func run(t *testing.T, s *conform.Suite, err error, begin func(*testing.T)) {
	t.Helper()
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	for _, check := range s.Checks() {
		t.Run(check, func(t *testing.T) {
			begin(t)
			verdict(t, s.Do(t.Context(), check))
		})
	}
	t.Cleanup(func() { // when they have ended
		if r, ok := s.Last(); ok { // else -run has left some out
			verdict(t, r)
		}
	})
}

func verdict(t *testing.T, r conform.Result) {
	t.Helper()
	if !r.OK() {
		t.Error(r)
	} else if r.Err != nil {
		t.Log(r)
	}
}
