package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/workloads"
)

// Stop implements [faults.ClientActs].
func (s *strike) Stop(ctx context.Context, w faults.Node, step string, how faults.Stop) (*faults.Victim, error) {
	alive := s.workers.alive()
	if len(alive) == 0 {
		return nil, fmt.Errorf("%w: no worker is left", faults.ErrNobody)
	}
	of := alive[s.rand.IntN(len(alive))]
	if w != nil {
		of, _ = s.worker(w)
	}
	c, err := of.catch(ctx, step, how)
	if err != nil {
		return nil, err
	}
	end := s.act(string(c.how), c.client, c.at)
	s.acts.mu.Lock()
	defer s.acts.mu.Unlock()
	s.acts.victims, s.acts.ends = append(s.acts.victims, c), append(s.acts.ends, end)
	return &faults.Victim{Worker: of, Client: c.client, ID: c.id, Lock: c.lock,
		LetGo:   func(ctx context.Context) error { return c.release(ctx, end) },
		Stopped: func() time.Duration { return c.stopped }}, nil
}

// release lets go of a victim and records it.
func (c *caught) release(ctx context.Context, end func(string)) error {
	if c.free {
		return nil
	}
	defer end("")
	return c.letGo(ctx)
}

// HoldOthers implements [faults.ClientActs].
func (s *strike) HoldOthers(ctx context.Context, step string, but *faults.Victim) (func(context.Context) error, error) {
	type gate struct {
		w       *workerProc
		n       uint64
		answers <-chan worker.Report
	}
	gathering, cancel := context.WithTimeout(ctx, gatherBound+s.plan.TTL)
	defer cancel()
	var gates []gate
	end := s.act("hold", "all but "+but.Client, 0)
	letGo := s.acts.undone(func(ctx context.Context) (err error) {
		defer end("")
		for _, g := range gates {
			if g.w.alive() {
				_, _, e := g.w.instruct(worker.Instruction{N: g.n, Do: worker.DoLetGo})
				err = errors.Join(err, e)
			}
			g.w.forget(g.n)
		}
		return err
	})
	for _, w := range s.workers.alive() {
		n, answers, err := w.instruct(worker.Instruction{Do: worker.DoCatch, Step: step, How: faults.Delay, AllBut: but.Client})
		if err != nil {
			return letGo, err
		}
		gates = append(gates, gate{w, n, answers})
	}
	for _, g := range gates {
		there := map[string]bool{}
		want := g.w.cfg.Clients
		if g.w.Name() == but.Worker.Name() {
			want--
		}
		for len(there) < want {
			r, err := g.w.await(gathering, g.answers, "hold all at "+step)
			switch {
			case err != nil && gathering.Err() != nil && ctx.Err() == nil:
				return letGo, fmt.Errorf("%w: only %d of %d clients of %s came to the step %s", faults.ErrNobody, len(there), want, g.w.Name(), step)
			case err != nil:
				return letGo, err
			}
			there[r.Client] = true
		}
	}
	return letGo, nil
}

// HoldBeside implements [faults.ClientActs].
func (s *strike) HoldBeside(_ context.Context, but *faults.Victim) (func(context.Context) error, error) {
	victim, _ := s.worker(but.Worker)
	return s.holdAll(s.workers.on(victim.host), worker.AnyStep, but.Client) // a twin is another process
}

// HoldAll implements [faults.ClientActs].
func (s *strike) HoldAll(_ context.Context, step string) (func(context.Context) error, error) {
	return s.holdAll(s.workers.alive(), step, "nobody")
}

// holdAll delays the clients of some processes.
func (s *strike) holdAll(workers []*workerProc, step, but string) (letGo func(context.Context) error, err error) {
	var held []func(context.Context) error
	letGo = func(ctx context.Context) (err error) {
		for _, one := range held {
			err = errors.Join(err, one(ctx))
		}
		return err
	}
	for _, w := range workers {
		one, err := s.hold(w, step, but)
		held = append(held, one)
		if err != nil {
			return letGo, err
		}
	}
	return letGo, nil
}

// hold delays the clients of a process at the step, or at whatever step they come to next.
func (s *strike) hold(w *workerProc, step, but string) (letGo func(context.Context) error, err error) {
	end := s.act("hold", "all of "+w.Name()+" but "+but, 0)
	n, _, err := w.instruct(worker.Instruction{Do: worker.DoCatch, Step: step, How: faults.Delay, AllBut: but})
	return s.acts.undone(func(context.Context) (err error) {
		defer end("")
		defer w.forget(n)
		if w.alive() {
			_, _, err = w.instruct(worker.Instruction{N: n, Do: worker.DoLetGo})
		}
		return err
	}), err
}

// another waits until a client of a worker other than that of the victim has been
// granted the lock, and keeps it at work until letGo, which first waits for a third.
func (s *strike) another(ctx context.Context, than *workerProc) (letGo func(context.Context) error) {
	worst, cancel := context.WithTimeout(ctx, s.plan.TTL)
	defer cancel()
	alive := s.workers.alive() // once: it grows shorter when one dies
	for _, i := range s.rand.Perm(len(alive)) {
		w := alive[i]
		if w == than {
			continue
		}
		c, err := w.catch(worst, workloads.StepBegun, faults.Delay)
		if err != nil {
			break // without such a moment, any other will do
		}
		end := s.act(string(faults.Delay), c.client, c.at)
		return func(ctx context.Context) error {
			third, cancel := context.WithTimeout(ctx, s.plan.TTL/4)
			defer cancel()
			_ = s.Passed(third, workloads.StepBegun, nil, nil)
			return c.release(ctx, end)
		}
	}
	return func(context.Context) error { return nil }
}
