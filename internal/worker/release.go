package worker

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// cleanups bounds how often a client asks the lock service to take back an
// acquisition whose outcome it does not know, before it retires the session.
const cleanups = 3

// Release implements [workloads.Session]. Whoever is stopped behind the answer may be told
// to forget that it was there.
func (c *client) Release(ctx context.Context, lease *lb.Lease) error {
	err := c.release(ctx, lease.Request)
	if a := lb.AnswerOf(err); a == lb.AnswerOK || a == lb.AnswerReleased {
		_ = c.env.Step(context.WithoutCancel(ctx), lease.Request, workloads.StepReleased)
		if told := c.again.Swap(nil); told != nil {
			(*told)(lb.AnswerOf(c.releaseOnce(ctx, lease.Request)))
		}
	}
	if err != nil {
		return &workloads.LockError{Err: err}
	}
	return nil
}

// release gives the lock back, and comes back as this caller does where it does not learn
// what became of that.
func (c *client) release(ctx context.Context, req lb.Request) error {
	err := c.releaseOnce(ctx, req)
	if lb.AnswerOf(err) != lb.AnswerUnknown {
		return err
	}
	switch c.caller.comes() {
	case later:
		c.caller.owed = append(c.caller.owed, req)
		return err
	case never:
		return err
	}
	return c.insist(ctx, req, err)
}

// comeBack asks once more for the releases that are still owed, now that the client holds
// a lock again.
func (c *client) comeBack(ctx context.Context) {
	for _, req := range c.caller.owes() {
		_ = c.releaseOnce(ctx, req)
	}
}

// takeBack gives back what may have been granted.
func (c *client) takeBack(ctx context.Context, req lb.Request) {
	if err := c.releaseOnce(ctx, req); lb.AnswerOf(err) == lb.AnswerUnknown {
		_ = c.insist(ctx, req, err)
	}
}

// insist asks again, after the answer err, while the answer is not definite.
// It goes on after the end of the run: a lock left behind by one that stops
// would look like a fault of the lock.
func (c *client) insist(ctx context.Context, req lb.Request, err error) error {
	for range cleanups - 1 {
		if c.session == nil {
			return err // it was asked for once, for the record
		}
		if err = c.releaseOnce(ctx, req); lb.AnswerOf(err) != lb.AnswerUnknown {
			return err
		}
	}
	if c.session != nil {
		c.retire()
	}
	return err
}

// errRetired is what becomes of a lock that was held in a session which was given up with
// another: nobody knows. A new session would say that it does not hold it.
var errRetired = errors.New("the session of this lock was given up")

func (c *client) releaseOnce(ctx context.Context, req lb.Request) error {
	if err := c.begin(context.WithoutCancel(ctx), CallRelease); err != nil {
		return err
	}
	ctx, cancel := c.caller.patience(ctx, c.env)
	defer cancel()
	call := history.Event{Kind: history.KindCall, Op: history.OpRelease, Client: c.name, Lock: req.Lock, ID: req.Owner}
	c.probe.begin(req.Owner, lb.StepReleasing)
	c.record(call)
	err := errRetired
	if c.session != nil {
		err = c.session.Release(ctx, req)
	}
	c.record(c.returned(ctx, call, err))
	return err
}
