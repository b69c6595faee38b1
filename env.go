package lockbench

import (
	"context"
	"math/rand/v2"
	"time"
)

// Env is everything that an algorithm gets from the bench. The zero Probe and a
// [HostClock] make it usable outside of the bench, too.
type Env struct {
	// Client names this session; it is unique in the run.
	Client string
	// Servers are the addresses (host:port) of the lock service, in the order of
	// the topology.
	Servers []string
	// Sentinels are the addresses of those that know which server leads, for
	// topologies that have them. Servers then holds the servers that they watch.
	Sentinels []string
	// TTL is the lease time that the run asks for.
	TTL time.Duration
	// Clock is the clock of the client's host. No algorithm reads another one.
	Clock Clock
	// Rand is the client's own source, derived from the run's seed.
	Rand *rand.Rand
	// Probe watches the client; nil for none.
	Probe Probe
}

// SentinelMaster is what the Sentinels of an [Env] call the master that they watch.
const SentinelMaster = "lockbench"

// Probe is how the bench sees, and stops, a client between two moves.
type Probe interface {
	// Step is passed before and after every request to a server, as before-NAME and
	// after-NAME. It may block, stop or kill the calling process, or return an error
	// to give up.
	Step(ctx context.Context, name string, id string) error
	// Wait is called before every wait, for a server's push or for time; the
	// function it returns is called when the wait is over.
	Wait(ctx context.Context, what string, id string) func()
	// Note records what a client learned between call and return.
	Note(Event)
}

// Clock is a host's idea of time. A fault may set it or make it drift.
type Clock interface {
	// Now is the wall clock, as a program that stores timestamps reads it. The
	// result carries no monotonic reading.
	Now() time.Time
	// Mono is the monotonic clock, which leases should be measured with.
	Mono() Instant
	// Sleep waits for d of this clock's time or until ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// Step marks a point of the protocol, named after the step that comes next or
// has just been answered ("after-setnx").
func (e *Env) Step(ctx context.Context, name string, req Request) error {
	if e.Probe == nil {
		return ctx.Err()
	}
	return e.Probe.Step(ctx, name, req.Owner)
}

// Wait runs wait, which blocks until a server pushes something or time passes,
// under the name of what it waits for.
func (e *Env) Wait(ctx context.Context, what string, req Request, wait func(context.Context) error) error {
	if e.Probe == nil {
		return wait(ctx)
	}
	done := e.Probe.Wait(ctx, what, req.Owner)
	defer done()
	return wait(ctx)
}

// Pause waits for a random time in [d/2, 3d/2): the polling delay of the
// algorithms that poll, with jitter so that clients do not march in step.
func (e *Env) Pause(ctx context.Context, req Request, d time.Duration) error {
	d = d/2 + time.Duration(e.Rand.Int64N(int64(d)))
	return e.Wait(ctx, "retry-delay", req, func(ctx context.Context) error { return e.Clock.Sleep(ctx, d) })
}

// Validity is how long a client may rely on a lease of this TTL that it asked
// for at call: the TTL less the drift allowance between its clock and the
// server's, 1% of the TTL and 2 ms (the Redlock specification's figures).
func (e *Env) Validity(call Instant) Instant {
	return call.Add(e.TTL - e.TTL/100 - 2*time.Millisecond)
}

// Grant makes the lease of a granted request. A zero until means that the
// algorithm gives no bound; a zero token that it has none.
func (e *Env) Grant(req Request, token uint64, until Instant) *Lease {
	return &Lease{Request: req, Token: token, env: e, end: until, lost: make(chan struct{})}
}

func (e *Env) note(ev Event) {
	if e.Probe != nil {
		e.Probe.Note(ev)
	}
}

// HostClock is the clock of this machine as it is.
type HostClock struct{}

// Now implements [Clock].
func (HostClock) Now() time.Time { return time.Now().Round(0) }

// Mono implements [Clock].
func (HostClock) Mono() Instant { return Now() }

// Sleep implements [Clock].
func (HostClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
