// Package locktest is the conformance suite that every lock passes before the
// bench believes a word of it: it holds an algorithm to what it claims, on its
// real servers, without faults that need a lab.
//
// A lock of your own joins with a few lines of a test:
//
//	func TestMyLock(t *testing.T) {
//		locktest.Run(t, mylock.New(), locktest.Options{
//			Servers:    []string{"127.0.0.1:6379"},
//			RoundTrips: locktest.RoundTrips{Acquire: 1, Release: 1},
//		})
//	}
//
// It also compares the requests that an algorithm lets pass [lockbench.Env.Send] with
// those that go over the wire: there is no other door.
//
// What is checked follows from the algorithm's [lockbench.Traits], and nothing
// can be skipped: a claim that is not made is checked to be refused clearly. The
// suite is no proof of mutual exclusion under faults. That is what the bench
// itself is for.
package locktest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Options are what the suite can't know from the algorithm itself.
type Options struct {
	// Servers are the addresses (host:port) of the lock service. The suite puts a
	// proxy of its own between each client and each server.
	Servers []string
	// TTL is the lease time of the checks that let a lease end; 0 means 1 s.
	TTL time.Duration
	// RoundTrips are those of an uncontended acquire and release; required by [Run].
	RoundTrips RoundTrips
	// Deviates names the checks that this algorithm is known to fail, each with
	// the reason. A check that is named here must fail.
	Deviates map[string]string
	// Rare names the requests that no check brings about for certain, each with the
	// reason.
	Rare map[string]string
	// Renewals is how many renewals of one lock may be on their way when it is given
	// back, which then find their context over and are not sent; 0 where none may.
	Renewals int
}

// RoundTrips counts requests, over all servers and connections.
type RoundTrips struct{ Acquire, Release int }

const (
	// prompt is how long something may take that needs no waiting, on a machine
	// that is busy with other tests.
	prompt = 5 * time.Second
	// grace is how long after the end of its context a call may still return: no server
	// is waited for then, and a driver's own timeout of 3 to 5 s must not pass for one.
	grace = 2 * time.Second
	// expiry is how long after its end a server may still keep a lease.
	expiry = 2 * time.Second
	// lasting is the TTL of checks in which no lease should end.
	lasting = 10 * time.Second
	// moment is long enough for a client to show what it does while it waits.
	moment = 300 * time.Millisecond
	// whole bounds one check.
	whole = 45 * time.Second
)

// check is one claim, as a function that says how it was found to be false.
type check struct {
	name string
	ttl  func(Options) time.Duration
	run  func(context.Context, *bench) error
}

func short(o Options) time.Duration { return o.TTL }
func long(o Options) time.Duration  { return max(lasting, o.TTL) }

// checks are those that apply to an algorithm of these traits.
func checks(tr lb.Traits) []check {
	all := []check{
		{"exclusion", long, exclusion},
		{"hundred-locks", long, hundredLocks},
		{"wait", long, waiting},
		{"deadline", long, deadline},
		{"cancel", long, canceled},
		{"try", long, trying},
		{"foreign-release", long, foreignRelease},
		{"second-release", long, secondRelease},
		{"release-answer", long, releaseAnswer},
		{"release-again", long, releaseAgain},
		{"crash", short, vanished((*party).crash)},
		{"hang", short, vanished((*party).hang)},
		{"any-name", long, anyName},
		{"server-refuses", short, serverRefuses},
		{"server-hangs", short, serverHangs},
		{"server-hangs-later", short, serverHangsLater},
		{"round-trips", long, roundTrips},
		{"bound", long, declaredBound},
		{"token", long, tokens},
		{"reentrant", long, pick(tr.Reentrant, reentrant, notReentrant)},
		{"shared", long, pick(tr.Shared, shared, notShared)},
	}
	if tr.Fair {
		all = append(all, check{"fair", long, fair}, check{"dead-waiter", short, deadWaiter})
	}
	if tr.Push {
		all = append(all, check{"push", long, push})
	}
	switch {
	case tr.Renewing:
		all = append(all, check{"renewal", short, renewal})
	case tr.Leased:
		all = append(all, check{"expiry", short, leaseEnds})
	}
	if tr.LostNotice {
		all = append(all, check{"lost-notice", short, lostNotice})
	}
	return append(all, requestChecks(tr)...)
}

// requestChecks are those that ask what goes over the wire, and not whether the lock
// is one.
func requestChecks(tr lb.Traits) []check {
	all := []check{
		{"requests", long, requestsAlone},
		{"requests-in-line", long, requestsInLine},
		{"requests-clean-up", long, requestsCleanUp},
		{"requests-first", long, requestsFirst},
		{"session", long, session},
	}
	if tr.Renewing || !tr.Leased { // else nothing is sent, and the lock ends
		all = append(all, check{"requests-renewal", short, requestsRenewed})
	}
	return all
}

func pick[T any](claimed bool, yes, no T) T {
	if claimed {
		return yes
	}
	return no
}

// inInfo is the check of all requests that were seen in the others.
const inInfo = "requests-in-info"

// runs makes the names of locks unique in this process.
var runs atomic.Int64

// Run holds impl to its claims, each check in a parallel subtest of its own. It
// takes about 10 s.
func Run(t *testing.T, impl lb.Impl, o Options) {
	t.Helper()
	if o.RoundTrips.Acquire == 0 {
		t.Fatal("locktest: Options.RoundTrips is required: say what an acquire and a release cost")
	}
	suite{impl: impl, Options: o, checks: checks(impl.Info().Traits)}.run(t)
}

// RunRequests holds impl to what it says about its requests, and to nothing else: for
// what is known not to be a lock, such as most of what others have published. It needs
// no RoundTrips. The checks follow each other, since there may be but one lock.
func RunRequests(t *testing.T, impl lb.Impl, o Options) {
	t.Helper()
	suite{impl: impl, Options: o, checks: requestChecks(impl.Info().Traits), wrong: true}.run(t)
}

// suite are the checks that impl is held to.
type suite struct {
	Options
	impl   lb.Impl
	checks []check
	wrong  bool // it is no lock
}

func (o suite) run(t *testing.T) {
	t.Helper()
	if o.TTL == 0 {
		o.TTL = time.Second
	}
	impl, all, name, run := o.impl, o.checks, o.impl.Info().Name, runs.Add(1)
	for deviation, reason := range o.Deviates {
		if reason == "" || deviation != inInfo && !slices.ContainsFunc(all, func(c check) bool { return c.name == deviation }) {
			t.Fatalf("locktest: deviation %q needs a reason, and to name a check that applies", deviation)
		}
	}
	verdict := func(t *testing.T, check string, err error) {
		t.Helper()
		switch reason, deviates := o.Deviates[check]; {
		case !deviates && err != nil:
			t.Errorf("%s: %v", name, err)
		case deviates && err == nil:
			t.Errorf("%s: passes %s, although it is said to deviate: %s", name, check, reason)
		case deviates:
			t.Logf("deviates as declared (%s): %v", reason, err)
		}
	}
	seen := &record{names: map[string]bool{}}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			if !o.wrong {
				t.Parallel()
			}
			b := &bench{
				impl: impl, servers: o.Servers, ttl: c.ttl(o.Options), trips: o.RoundTrips, wrong: o.wrong, renewals: o.Renewals,
				lock: fmt.Sprintf("locktest-%s-%s-%d", name, c.name, run), record: seen,
			}
			verdict(t, c.name, b.run(c))
		})
	}
	t.Cleanup(func() { // when they have ended
		if seen.checks == len(all) { // else -run has left some out
			verdict(t, inInfo, seen.compare(impl.Info(), o.Rare))
		}
	})
}
