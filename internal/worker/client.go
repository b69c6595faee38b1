package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
)

// lockName is the one lock that all clients of a run want.
const lockName = "lock"

// cleanups bounds how often a client asks the lock service to take back an
// acquisition whose outcome it does not know, before it retires the session.
const cleanups = 3

// client is one participant: a session, and the work that it does under the lock.
type client struct {
	name   string
	worker string // the process, until the record says it
	env    *lb.Env
	impl   lb.Impl
	record func(lb.Event)
	probe  *probe

	session lb.Client
	task    lb.Task
	count   int // of acquisitions, for their ids
}

func (c *client) open(ctx context.Context, w lb.Workload, store string) (err error) {
	if c.session, err = c.impl.Open(ctx, c.env); err != nil {
		return fmt.Errorf("worker: %s: open a session of %s: %w", c.name, c.impl.Info().Name, err)
	}
	if c.task, err = w.Open(ctx, c.env, store); err != nil {
		return fmt.Errorf("worker: %s: open the workload: %w", c.name, err)
	}
	return nil
}

func (c *client) close() {
	if c.session != nil {
		_ = c.session.Close() // what it leaves, its lease's end or the lab's cleans up
	}
	if c.task != nil {
		_ = c.task.Close()
	}
}

// run takes the lock and works under it until ctx ends.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		req := lb.Request{Lock: lockName, Owner: c.nextID()}
		if lease, ok := c.acquire(ctx, req); ok {
			// The work is not cut short by the end of the run, only the next one is
			// not begun: half a section would look like a lost update.
			_ = c.task.Do(context.WithoutCancel(ctx), lease) // what the store did is in the store's own record
			c.release(ctx, req)
		}
		// A moment outside of the lock, so that the last holder does not always win.
		_ = c.env.Clock.Sleep(ctx, time.Duration(c.env.Rand.Int64N(int64(2*time.Millisecond))))
	}
}

func (c *client) nextID() string {
	c.count++
	return c.name + "." + strconv.Itoa(c.count)
}

func (c *client) acquire(ctx context.Context, req lb.Request) (*lb.Lease, bool) {
	call := lb.Event{Kind: lb.KindCall, Op: lb.OpAcquire, Client: c.name, Lock: req.Lock, ID: req.Owner}
	c.probe.requests.Store(0)
	first := call
	first.Worker, c.worker = c.worker, ""
	c.record(first)
	lease, err := c.request(ctx, req)
	ret := c.returned(call, err)
	if err != nil {
		c.record(ret)
		if ret.Result == lb.Unknown {
			c.release(ctx, req)
		}
		return nil, false
	}
	ret.Token, ret.Until = lease.Token, c.probe.clock.true(lease.Until())
	c.record(ret)
	return lease, true
}

// request asks for the lock, with a fresh session where the last one was retired.
func (c *client) request(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if c.session == nil {
		if err := c.reopen(ctx); err != nil {
			return nil, err
		}
	}
	return c.session.Acquire(ctx, req)
}

// release gives the lock back, and asks again while the answer is not definite.
// It goes on after the end of the run: a lock left behind by one that stops
// would look like a fault of the lock.
func (c *client) release(ctx context.Context, req lb.Request) {
	for range cleanups {
		if c.releaseOnce(context.WithoutCancel(ctx), req) != lb.Unknown {
			return
		}
	}
	c.retire()
}

func (c *client) releaseOnce(ctx context.Context, req lb.Request) lb.Result {
	ctx, cancel := context.WithTimeout(ctx, c.env.TTL)
	defer cancel()
	call := lb.Event{Kind: lb.KindCall, Op: lb.OpRelease, Client: c.name, Lock: req.Lock, ID: req.Owner}
	c.probe.requests.Store(0)
	c.record(call)
	ret := c.returned(call, c.session.Release(ctx, req))
	c.record(ret)
	return ret.Result
}

// returned makes the event of an operation's end.
func (c *client) returned(call lb.Event, err error) lb.Event {
	ret := call
	ret.At, ret.Kind, ret.Result = lb.Now(), lb.KindReturn, lb.OutcomeOf(err)
	ret.Requests = int(c.probe.requests.Load())
	if err != nil {
		ret.Note = err.Error()
	}
	return ret
}

// retire ends a session whose state nobody knows; the next acquire opens another.
func (c *client) retire() {
	_ = c.session.Close()
	c.session = nil
}

// reopen opens another session, and tries again while the lock service can't be
// reached: a client waits for a server that is restarting.
func (c *client) reopen(ctx context.Context) error {
	const pause = 20 * time.Millisecond
	for {
		session, err := c.openSession(ctx)
		if err == nil {
			c.session = session
			return nil
		}
		if lb.HostClock.Sleep(lb.HostClock{}, ctx, pause) != nil {
			return fmt.Errorf("%w: %w", lb.ErrNoEffect, err)
		}
	}
}

// openSession bounds one try.
func (c *client) openSession(ctx context.Context) (lb.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, c.env.TTL)
	defer cancel()
	return c.impl.Open(ctx, c.env)
}

// probe shows a client's moves to the trap and the recorder, and counts them.
type probe struct {
	client   string
	trap     *trap
	clock    *hostClock
	record   func(lb.Event)
	requests atomic.Int64 // since the operation began; renewals run beside it
}

// Step counts the requests, which every algorithm announces by a step that is
// called before-something.
func (p *probe) Step(ctx context.Context, name, id string) error {
	if strings.HasPrefix(name, "before-") {
		p.requests.Add(1)
	}
	return p.trap.pass(ctx, p.client, name, id)
}

func (p *probe) Wait(_ context.Context, what, id string) func() {
	return func() { p.record(lb.Event{Kind: lb.KindWake, Client: p.client, ID: id, Name: what}) }
}

func (p *probe) Note(ev lb.Event) {
	ev.Until, ev.Call = p.clock.true(ev.Until), p.clock.true(ev.Call)
	p.record(ev)
}

func newRand(seed uint64, worker, client int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(worker)<<32|uint64(client)))
}
