// Package conform is the conformance suite that every lock passes before the
// bench believes a word of it: it holds an algorithm to what it claims, on its
// real servers, without faults that need a lab.
//
// It also compares the requests that an algorithm lets pass [lockbench.Env.Send] with
// those that go over the wire: there is no other door.
//
// What is checked follows from the algorithm's [lockbench.Traits], and nothing
// is skipped but by a caller that says so ([Options.Only]): a claim that is not made is checked
// to be refused clearly. The
// suite is no proof of mutual exclusion under faults. That is what the bench
// itself is for.
package conform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/wire"
)

// Options are what the suite can't know from the algorithm itself.
type Options struct {
	// Servers are the addresses (host:port) of the lock service. The suite puts a
	// proxy of its own between each client and each server.
	Servers []string
	// Speaks is what they and their clients say to each other, as their topology has it
	// (lab.Topology.Kind.Speaks): without it no request on the wire has its name.
	Speaks wire.Language
	// Only names the checks that are done, without the last, which is about all; none means all
	// that apply.
	Only []string
	// TTL is the lease time of the checks that let a lease end; 0 means 2 s, and 4 s where Hasty says
	// that the algorithm's patience is a part of it.
	TTL time.Duration
	// RoundTrips are those of an uncontended acquire and release. Without them they are
	// only measured.
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
	// Hasty is why the algorithm gives its own requests up after a time such as 20 ms, if it does: a busy
	// machine can outlast that, and it says nothing of the lock. Then a client asks again, a few times.
	Hasty string
	// Patience is how many times as long as usual things may take, for a lock that is slow
	// to start or to answer; 0 means once.
	Patience float64
}

// RoundTrips counts requests, over all servers and connections.
type RoundTrips struct{ Acquire, Release int }

// Result is what became of one check.
type Result struct {
	Check    string
	Err      error  // how the claim was found to be false
	Deviates string // the declared reason why it must be
	Note     string // what was measured
	Took     time.Duration
}

// OK reports whether the claim holds, or fails as is declared.
func (r Result) OK() bool { return (r.Err == nil) == (r.Deviates == "") }

func (r Result) String() string {
	switch {
	case r.Err == nil && r.Deviates != "":
		return fmt.Sprintf("passes %s, although it is said to deviate: %s", r.Check, r.Deviates)
	case r.Err == nil:
		return cmp.Or(r.Note, "passes")
	case r.Deviates != "":
		return fmt.Sprintf("deviates as declared (%s): %v", r.Deviates, r.Err)
	}
	return r.Err.Error()
}

// Suite is an algorithm, and the checks that it is held to. They may be done at the same
// time, each once.
type Suite struct {
	Options
	times
	impl   lb.Impl
	checks []check
	wrong  bool // it is no lock
	lock   string
	seen   *record
}

// inInfo is the check of all requests that were seen in the others.
const inInfo = "requests-in-info"

// New holds impl to all that it claims. It is wrong to declare that a check fails which
// does not apply, or without a reason.
func New(impl lb.Impl, o Options) (*Suite, error) {
	return suite(impl, o, checks(impl.Info().Traits), false)
}

// Requests holds impl to what it says about its requests, and to nothing else: for
// what is known not to be a lock, such as most of what others have published. Its checks
// are done one after the other, since there may be but one lock.
func Requests(impl lb.Impl, o Options) (*Suite, error) {
	return suite(impl, o, requestChecks(impl.Info().Traits), true)
}

func suite(impl lb.Impl, o Options, all []check, wrong bool) (*Suite, error) {
	impl = foreign.Hearing(impl, o.Speaks)
	usual := 2 * time.Second
	if o.Hasty != "" {
		usual = 4 * time.Second
	}
	o.TTL = cmp.Or(o.TTL, usual)
	s := &Suite{Options: o, times: timesOf(o.Patience, o.TTL), impl: impl, checks: all, wrong: wrong, seen: &record{names: map[string]bool{}}}
	for deviation, reason := range o.Deviates {
		if reason == "" || deviation != inInfo && !slices.Contains(s.Checks(), deviation) {
			return nil, fmt.Errorf("deviation %q needs a reason, and to name a check that applies", deviation)
		}
	}
	if len(o.Only) > 0 {
		for _, name := range o.Only {
			if !slices.Contains(s.Checks(), name) {
				return nil, fmt.Errorf("only %q: no such check applies", name)
			}
		}
		s.checks = slices.DeleteFunc(s.checks, func(c check) bool { return !slices.Contains(o.Only, c.name) })
	}
	// What is left of a suite that ran before must not be in the way.
	s.lock = fmt.Sprintf("%s-conform-%s-%s", lb.Prefix, impl.Info().Name, strconv.FormatInt(time.Now().UnixNano(), 36))
	return s, nil
}

// Checks are the names of the checks, in order, but for that which [Suite.Last] does.
func (s *Suite) Checks() (names []string) {
	for _, c := range s.checks {
		names = append(names, c.name)
	}
	return names
}

// Do does a check.
func (s *Suite) Do(ctx context.Context, name string) Result {
	c := s.checks[slices.Index(s.Checks(), name)]
	b := &bench{
		times: s.times, impl: s.impl, servers: s.Servers, speaks: s.Speaks, ttl: c.ttl(s), trips: s.RoundTrips, wrong: s.wrong, renewals: s.Renewals,
		lock: s.lock + "-" + name, record: s.seen,
	}
	if s.Hasty != "" {
		b.asks = 5
	}
	if s.Deviates[name] != "" {
		b.whole = min(b.whole, b.deviant+4*s.TTL)
	}
	start := time.Now()
	err := b.run(ctx, c)
	return Result{Check: name, Err: err, Deviates: s.Deviates[name], Note: b.note, Took: time.Since(start)}
}

// Last is about all requests that were seen in the other checks: only if all have been done.
func (s *Suite) Last() (Result, bool) {
	if len(s.Only) > 0 || !s.seen.all(len(s.checks)) {
		return Result{}, false
	}
	return Result{Check: inInfo, Err: s.seen.compare(s.impl.Info(), s.Rare), Deviates: s.Deviates[inInfo]}, true
}

// All does every check that applies to impl, jobs at a time, and tells of each as it ends.
// With ctx it stops, and what was under way then has failed.
func All(ctx context.Context, impl lb.Impl, o Options, jobs int, tell func(Result)) []Result {
	s, err := New(impl, o)
	if err != nil {
		r := Result{Check: "options", Err: err}
		tell(r)
		return []Result{r}
	}
	var (
		all   = make([]Result, len(s.checks))
		turns = make(chan struct{}, max(1, jobs))
		wg    sync.WaitGroup
		mu    sync.Mutex
		begun int
	)
	for i, name := range s.Checks() {
		turns <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		begun++
		wg.Go(func() {
			defer func() { <-turns }()
			r := s.Do(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			all[i] = r
			tell(r)
		})
	}
	wg.Wait()
	all = all[:begun]
	if last, ok := s.Last(); ok && ctx.Err() == nil {
		all = append(all, last)
		tell(last)
	}
	return all
}
