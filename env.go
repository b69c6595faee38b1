package lockbench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Env is everything that an algorithm gets from the bench, and the only door to the
// world: no request leaves, no time passes and nothing works in the background but
// through its methods. The conformance suite compares what passes here with what
// passes on the wire. Without a Probe it is usable outside of the bench, too.
type Env struct {
	// Client names this session; it is unique in the run, but for a process that is started
	// again as who it was.
	Client string
	// Servers are the addresses (host:port) of the lock service, in the order of
	// the topology.
	Servers []string
	// Sentinels are the addresses of those that know which server leads, for
	// topologies that have them. Servers then holds the servers that they watch.
	Sentinels []string
	// Master is what the Sentinels call the server that they watch.
	Master string
	// TTL is the lease time that the run asks for.
	TTL time.Duration
	// Clock is the clock of the client's host. No algorithm reads another one.
	Clock Clock
	// Rand is the client's own source, derived from the run's seed.
	Rand *rand.Rand
	// Probe watches the client; nil for none.
	Probe Probe
}

// Prefix is what everything that an algorithm keeps on its servers begins with, so that it
// can be told from what others keep there: nodes, tables, and the keys and channels of a lock
// whose own name begins with it.
const Prefix = "lockbench"

// Send sends one request to one server, between the steps before-NAME and
// after-NAME. [ErrNotSent] says that the client was stopped before it left; otherwise
// the error is that of the request. After an error, such as [ErrHeld] of a request that
// should take the lock, after-NAME is not passed: who stops there has what it asked for,
// and keeps it, whatever ctx does meanwhile. [EachWithin] says how long it may take.
func (e *Env) Send(ctx context.Context, req Request, name string, request func(context.Context) error) error {
	if e.Probe == nil { // nobody needs the steps, or their names
		if err := ctx.Err(); err != nil {
			return notSent{err}
		}
		return e.bounded(ctx, request)
	}
	if err := e.Step(ctx, req, Before(name)); err != nil {
		return notSent{err}
	}
	if err := e.bounded(ctx, request); err != nil {
		return err
	}
	return e.Step(context.WithoutCancel(ctx), req, After(name))
}

type eachKey struct{}

// EachWithin gives each request under the returned context so much time of its own, which begins when
// it leaves: a driver's timeout, which knows nothing of leases, nor of what the whole call takes.
func EachWithin(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, eachKey{}, d)
}

// Whole is ctx for a call of a library that asks again by itself: the time that each request would
// have is that of the whole call.
func (e *Env) Whole(ctx context.Context) (context.Context, context.CancelFunc) {
	d, ok := ctx.Value(eachKey{}).(time.Duration)
	if !ok {
		return context.WithCancel(ctx)
	}
	return e.WithTimeout(context.WithValue(ctx, eachKey{}, nil), d)
}

// bounded runs a request within the time that each has.
func (e *Env) bounded(ctx context.Context, request func(context.Context) error) error {
	d, ok := ctx.Value(eachKey{}).(time.Duration)
	if !ok {
		return request(ctx)
	}
	ctx, cancel := e.WithTimeout(ctx, d)
	defer cancel()
	return request(ctx)
}

// Before and After name the steps around a request.
func Before(request string) string { return "before-" + request }
func After(request string) string  { return "after-" + request }

// notSent is the error of a request that did not leave.
type notSent struct{ error }

func (e notSent) Unwrap() []error { return []error{ErrNotSent, e.error} }

// Step marks a point of the protocol at which the client can be stopped. It returns
// ctx's error. Requests are sent with [Env.Send], which makes their steps.
func (e *Env) Step(ctx context.Context, req Request, name string) error {
	if e.Probe == nil {
		return ctx.Err()
	}
	return e.Probe.Step(ctx, e.move(ctx, req, name))
}

// Wait runs wait, which blocks until a server pushes something or time passes,
// under the name of what it waits for.
func (e *Env) Wait(ctx context.Context, req Request, what string, wait func(context.Context) error) error {
	if e.Probe == nil {
		return wait(ctx)
	}
	done := e.Probe.Wait(ctx, e.move(ctx, req, what))
	defer done()
	return wait(ctx)
}

// Sleep lets d of this host's time pass, under the name of what it is for.
func (e *Env) Sleep(ctx context.Context, req Request, what string, d time.Duration) error {
	return e.Wait(ctx, req, what, func(ctx context.Context) error { return e.Clock.Sleep(ctx, d) })
}

// RetryDelay is what the waits of algorithms that poll are called.
const RetryDelay = "retry-delay"

// Pause waits for a random time in [d/2, 3d/2): the polling delay of the
// algorithms that poll, with jitter so that clients do not march in step.
func (e *Env) Pause(ctx context.Context, req Request, d time.Duration) error {
	return e.Sleep(ctx, req, RetryDelay, d/2+time.Duration(e.Rand.Int64N(int64(d))))
}

// WithTimeout is context.WithTimeout by this host's clock.
func (e *Env) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return e.Clock.WithTimeout(ctx, d)
}

// Actor is who makes a move for a client.
type Actor string

// The actors. Main is whoever calls the client; the others work beside it.
const (
	Main    Actor = ""
	Renewal Actor = "renewal"  // keeps a lease or a session alive
	CleanUp Actor = "clean-up" // takes back what nobody wants any more
)

// Go works in the background, as the given actor, until the function returns. The
// requests that it sends under its context are the actor's.
func (e *Env) Go(ctx context.Context, as Actor, work func(context.Context)) {
	end := func() {}
	if e.Probe != nil {
		end = e.Probe.Go(as)
	}
	go func() {
		defer end()
		work(As(ctx, as))
	}()
}

// After works in the background like [Env.Go], but begins when d of this host's time has
// passed, under the name of what it waits for: until then it costs no goroutine. It never
// begins if ctx ends before, or stop was in time, as that reports; else it does, even if
// ctx ends just then. stop does not end work that has begun.
func (e *Env) After(ctx context.Context, as Actor, req Request, what string, d time.Duration, work func(context.Context)) (stop func() bool) {
	ctx = As(ctx, as)
	over, end := func() {}, func() {}
	if e.Probe != nil {
		end = e.Probe.Go(as)
		over = e.Probe.Wait(ctx, e.move(ctx, req, what))
	}
	due, cancel := e.WithTimeout(ctx, d)
	inTime := context.AfterFunc(due, func() {
		defer end()
		defer cancel()
		over()
		if errors.Is(due.Err(), context.DeadlineExceeded) {
			work(ctx)
		}
	})
	return func() bool {
		if !inTime() {
			return false
		}
		cancel()
		over()
		end()
		return true
	}
}

// Session tells of a session that the client has with the lock service from now on, and
// that its locks end with: anybody could end it there. It is named as the servers name it:
// in ZooKeeper by its id and password, in hex, with a colon between; in etcd by the lease's
// id in hex; in Consul by its id; in MySQL by the number of the connection, in PostgreSQL by that of the
// process which serves it, both with where the client is behind an @.
func (e *Env) Session(name string) {
	if p, ok := e.Probe.(SessionProbe); ok {
		p.Session(name)
	}
}

// SessionProbe is a [Probe] that wants to know of sessions.
type SessionProbe interface{ Session(name string) }

type actorKey struct{}

// As says who makes the moves under the returned context.
func As(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf is who makes the moves under ctx.
func ActorOf(ctx context.Context) Actor {
	actor, _ := ctx.Value(actorKey{}).(Actor)
	return actor
}

type serverKey struct{}

// To says which of several servers the requests under the returned context go to, for who sends
// several at once: its place among [Env.Servers], from 1. Where there is one server, it says which of
// several keys they are for.
func To(ctx context.Context, server int) context.Context {
	return context.WithValue(ctx, serverKey{}, server)
}

func (e *Env) move(ctx context.Context, req Request, name string) Move {
	server, _ := ctx.Value(serverKey{}).(int)
	return Move{Name: name, Lock: req.Lock, Owner: req.Owner, Actor: ActorOf(ctx), Server: server}
}

// Move is something that a client is about to do, or has just done.
type Move struct {
	// Name of the step or of the wait.
	Name string
	// Lock and Owner are the acquisition that it is for.
	Lock, Owner string
	Actor       Actor
	// Server is the place among [Env.Servers], or among the keys, from 1, of the one that it goes to, 0 where that
	// is the only one or not said.
	Server int
}

// Probe is how the bench sees, and stops, a client between two moves.
type Probe interface {
	// Step may block, stop or kill the calling process, or return an error to give up.
	Step(context.Context, Move) error
	// Wait is called before every wait; the function it returns when the wait is over.
	Wait(context.Context, Move) (done func())
	// Go is called before work in the background begins; the function it returns when
	// it has ended.
	Go(Actor) (end func())
	// Renewed: the lease was extended until its Until, by a request sent at call.
	Renewed(l *Lease, call Reading)
	// Lost: the client learned that the lock is gone.
	Lost(l *Lease, why string)
}

// Validity is how long a client may rely on a lease of this TTL that it asked
// for at call: the TTL less the drift allowance between its clock and the
// server's, 1% of the TTL and 2 ms (the Redlock specification's figures).
func (e *Env) Validity(call Reading) Reading {
	return call.Add(e.TTL - e.TTL/100 - 2*time.Millisecond)
}

// Grant makes the lease of a granted request. A zero until means that the
// algorithm gives no bound; a zero token that it has none.
func (e *Env) Grant(req Request, token uint64, until Reading) *Lease {
	return &Lease{Request: req, Token: token, env: e, end: until, lost: make(chan struct{})}
}
