package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/workloads"
)

// restless is how long a client rests at most between two iterations.
const restless = 2 * time.Millisecond

// client is one participant: a session, and the tasks that it does with it. It
// implements [workloads.Session] and records what is done with that.
type client struct {
	name   string
	worker string // the process, until the record says it
	prefix string // of the names of locks
	env    *lb.Env
	impl   lb.Impl
	record func(history.Event)
	blame  func(*foreign.Finding)
	begins func(ctx context.Context, call string) error // before each call of the lock; nil for at once
	probe  *probe
	pacer  workloads.Pacer

	session  lb.Client
	task     workloads.Task
	count    int // of acquisitions, for their ids
	sections atomic.Int64
	again    atomic.Pointer[func(lb.Answer)] // the next release is called twice, and that hears of it
	caller   *caller                         // nil for one that comes back at once
}

func (c *client) open(ctx context.Context, w workloads.Workload, b workloads.Bench) (err error) {
	if c.session, err = c.impl.Open(ctx, c.env); err != nil {
		return fmt.Errorf("%s: open a session of %s: %w", c.name, c.impl.Info().Name, err)
	}
	env := *c.env
	env.Client = c.name // for the record, whoever it is for the lock
	b.Env = &env
	if c.task, err = w.Open(ctx, b); err != nil {
		return fmt.Errorf("%s: open the workload: %w", c.name, err)
	}
	c.pacer = workloads.Restless{Env: c.env, Pause: restless}
	return nil
}

func (c *client) close() {
	if c.session != nil {
		c.end()
	}
	if c.task != nil {
		_ = c.task.Close()
	}
}

// run does one task after the other until ctx ends.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		if !c.once(ctx) {
			return
		}
		_ = c.pacer.Await(ctx)
	}
}

// once does one task, and reports whether another makes sense.
func (c *client) once(ctx context.Context) bool {
	err := c.task.Run(ctx, c)
	var lock *workloads.LockError
	var wrong *foreign.Finding
	switch {
	case errors.As(err, &wrong):
		return false // as that was told
	case err == nil:
		c.sections.Add(1)
	case !errors.As(err, &lock) && (ctx.Err() == nil || !lb.GaveUp(err)):
		c.record(history.Event{Kind: history.KindFailed, Client: c.name, Note: err.Error()})
	}
	return true
}

// Acquire implements [workloads.Session]. What may have been granted although the
// client does not know is given back.
func (c *client) Acquire(ctx context.Context, ask workloads.Ask) (*lb.Lease, error) {
	c.count++
	req := lb.Request{Lock: ask.Lock, Owner: c.name + "." + strconv.Itoa(c.count), Try: ask.Try, Shared: ask.Shared}
	if req.Lock == "" {
		req.Lock = workloads.DefaultLock
	}
	req.Lock = c.prefix + req.Lock
	if err := c.begin(ctx, CallAcquire); err != nil {
		return nil, &workloads.LockError{Err: err}
	}
	call := history.Event{Kind: history.KindCall, Op: history.OpAcquire, Client: c.name, Lock: req.Lock, ID: req.Owner,
		Shared: req.Shared}
	c.probe.begin(req.Owner, lb.StepAcquiring)
	first := call
	first.Worker, c.worker = c.worker, ""
	c.record(first)
	c.probe.asking.Store(true)
	lease, err := c.request(ctx, req)
	c.probe.asking.Store(false)
	ret := c.returned(ctx, call, err)
	if err != nil {
		c.record(ret)
		if ret.Result == lb.AnswerUnknown {
			c.takeBack(ctx, req)
		}
		return nil, &workloads.LockError{Err: err}
	}
	ret.Token, ret.Until = lease.Token, clock.True(lease.Until())
	c.record(ret)
	c.comeBack(ctx)
	return lease, nil
}

func (c *client) request(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if c.session == nil {
		if err := c.reopen(ctx); err != nil {
			return nil, err
		}
	}
	return c.session.Acquire(ctx, req)
}

// Valid implements [workloads.Session]. A definite no is news to who relied on the lock.
func (c *client) Valid(ctx context.Context, lease *lb.Lease) bool {
	v, ok := lb.ValidatorOf(c.session)
	if !ok {
		return lease.Valid()
	}
	ctx, cancel := context.WithTimeout(ctx, c.env.TTL)
	defer cancel()
	holds, err := v.Valid(ctx, lease.Request)
	c.look(err)
	if err == nil && !holds {
		lease.Lose("asked, its library says that it does not hold the lock")
	}
	return err == nil && holds
}

// The calls of a lock that [Setting.Begins] hears of.
const (
	CallAcquire = "acquire"
	CallRelease = "release"
)

// begin is passed before a call is recorded.
func (c *client) begin(ctx context.Context, call string) error {
	if c.begins == nil {
		return nil
	}
	return c.begins(ctx, call)
}

// returned makes the event of the end of an operation, which was asked for in ctx. That its caller
// waits no longer is no error; that the lock waits no longer, by a bound of its own, is one.
func (c *client) returned(ctx context.Context, call history.Event, err error) history.Event {
	ret := call
	ret.At, ret.Kind, ret.Result = clock.Now(), history.KindReturn, lb.AnswerOf(err)
	ret.Requests = int(c.probe.requests.Load())
	ret.Sent = c.probe.tell()
	c.probe.entered.Store(nil)
	if err != nil {
		ret.Note, ret.Error = err.Error(), !lb.Refused(err) && !(lb.GaveUp(err) && over(ctx))
	}
	c.look(err)
	return ret
}

// over reports whether the caller's time is: a server that is told of the deadline may be the
// first to answer that it has passed.
func over(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && !time.Now().Before(deadline)
}

// look tells of what a program did wrong, whatever it was asked.
func (c *client) look(err error) {
	if wrong := (*foreign.Finding)(nil); errors.As(err, &wrong) {
		c.blame(wrong)
	}
}

// end closes the session. What it leaves, its lease's end or the lab's cleans up.
func (c *client) end() { c.look(c.session.Close()) }

// retire ends a session whose state nobody knows; the next acquire opens another.
func (c *client) retire() {
	c.end()
	c.session = nil
	c.caller.owes() // with the session it is gone
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
		if c.env.Clock.Sleep(ctx, pause) != nil {
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
