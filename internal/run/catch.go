package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/processes"
	"github.com/lockbench/lockbench/internal/worker"
)

// answerBound is how long a worker that runs may take to answer.
const answerBound = 5 * time.Second

// caught is a client that a trap has caught.
type caught struct {
	worker     *workerProc
	n          uint64
	answers    <-chan worker.Report
	how        faults.Stop
	client, id string
	lock       string
	at         lb.Instant
	stopped    time.Duration // when it was let go
	programs   []int         // of a worker that was killed
	free       bool
}

// catch waits until a client of w passes the step, and stops it in the given way. The
// error is [faults.ErrNobody] when ctx ended before; nobody is left stopped then.
func (w *workerProc) catch(ctx context.Context, step string, how faults.Stop) (*caught, error) {
	return w.catchAs(ctx, worker.Instruction{Step: step, How: how})
}

func (w *workerProc) catchAs(ctx context.Context, o worker.Instruction) (*caught, error) {
	o.Do = worker.DoCatch
	step, how := o.Step, o.How
	if how == faults.FreezeAll {
		o.How, o.All = faults.Freeze, w.cfg.Clients
	}
	n, answers, err := w.instruct(o)
	if err != nil {
		return nil, err
	}
	c := &caught{worker: w, n: n, answers: answers, how: o.How}
	r, err := w.await(ctx, answers, "catch a client at "+step)
	if err == nil {
		c.is(r)
		return c, nil
	}
	defer w.forget(n)
	if ctx.Err() == nil {
		return nil, err
	}
	if late, e := c.takeBack(); e != nil || late {
		return c, e // what has died, has died
	}
	return nil, fmt.Errorf("%w: no client of %s came to the step %s", faults.ErrNobody, w.Name(), step)
}

func (c *caught) is(r worker.Report) {
	c.client, c.id, c.lock, c.at = r.Client, r.ID, r.Lock, r.At
	if c.how == faults.Kill {
		c.worker.doomed.Store(true)
		c.programs = r.Programs
	}
}

// takeBack removes a trap that has perhaps sprung in the meantime. It reports whether
// that can't be undone.
func (c *caught) takeBack() (late bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerBound)
	defer cancel()
	if _, _, err := c.worker.instruct(worker.Instruction{N: c.n, Do: worker.DoLetGo}); err != nil {
		return false, err
	}
	for {
		r, err := c.worker.await(ctx, c.answers, "let go")
		switch {
		case err != nil && c.how == faults.Kill && errors.Is(err, errGone):
			return true, nil
		case err != nil:
			return false, err
		case r.Say == worker.SayFree:
			return false, nil
		case r.Say == worker.SayCaught:
			c.is(r)
			if c.how == faults.Freeze {
				err = c.worker.thaw()
			}
			if err != nil {
				return false, err
			}
		}
	}
}

// letGo ends it, once.
func (c *caught) letGo(ctx context.Context) error {
	if c.free {
		return nil
	}
	c.free = true
	w := c.worker
	defer w.forget(c.n)
	if c.how == faults.Kill {
		select {
		case <-w.gone:
			return processes.AwaitEnd(ctx, c.programs)
		case <-ctx.Done():
			return fmt.Errorf("%s should be dead and is not: %w", w.Name(), ctx.Err())
		}
	}
	if c.how == faults.Freeze {
		if err := w.thaw(); err != nil {
			return err
		}
	}
	if _, _, err := w.instruct(worker.Instruction{N: c.n, Do: worker.DoLetGo}); err != nil {
		return err
	}
	for {
		r, err := w.await(ctx, c.answers, "let go")
		if err != nil {
			return err
		}
		if r.Say == worker.SayOn {
			c.stopped = r.Idle
			return nil
		}
	}
}

// passed waits until a client of w passes the step, that of the given name if it is
// not "".
func (w *workerProc) passed(ctx context.Context, step, client string) error {
	c, err := w.catchAs(ctx, worker.Instruction{Step: step, How: worker.Notice, Only: client})
	if err != nil {
		return err
	}
	defer w.forget(c.n)
	_, _, err = w.instruct(worker.Instruction{N: c.n, Do: worker.DoLetGo})
	return err
}
