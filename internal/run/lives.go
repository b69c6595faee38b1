package run

import (
	"cmp"
	"context"
	"fmt"
	"syscall"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/worker"
)

// ReleaseAgain implements [faults.RepeatActs].
func (s *strike) ReleaseAgain(ctx context.Context, v *faults.Victim) (answer string, err error) {
	w, _ := s.worker(v.Worker)
	end := s.act("release again", v.Client, 0)
	n, answers, err := w.instruct(worker.Instruction{Do: worker.DoAgain, Only: v.Client})
	if err != nil {
		return "", err
	}
	defer w.forget(n)
	if err := v.LetGo(ctx); err != nil {
		return "", err
	}
	told, err := w.await(ctx, answers, "release again")
	end(told.Result)
	return told.Result, err
}

// StartAgain implements [faults.RepeatActs].
func (s *strike) StartAgain(ctx context.Context, n faults.Node, step string) (faults.Node, error) {
	old, _ := s.worker(n)
	cfg := old.cfg
	cfg.Identity = cmp.Or(cfg.Identity, cfg.Name)
	lives := 1 // with this one
	for _, w := range s.workers.list() {
		if cmp.Or(w.cfg.Identity, w.cfg.Name) == cfg.Identity {
			lives++
		}
	}
	cfg.Name = fmt.Sprintf("%s-%d", cfg.Identity, lives)
	cfg.Events = s.dir.EventsFile(cfg.Name)
	logTo, err := s.dir.OpenLog(cfg.Name)
	if err != nil {
		return nil, err
	}
	defer logTo.Close()
	end := s.act("start again", n.Name(), 0)
	w, err := startWorker(ctx, old.host, cfg, logTo, s.workers.blame)
	if err != nil {
		return nil, err
	}
	s.workers.join(w)
	if err := w.ready(ctx); err != nil {
		if s.atOnce() == 1 {
			return nil, err
		}
		w.doomed.Store(true)
		_ = w.Signal(syscall.SIGKILL) // it may have ended by itself
		end("it did not come up")
		return nil, fmt.Errorf("%w: the new process could not begin, with another fault in force: %w", faults.ErrNobody, err)
	}
	end("as " + w.Name())
	// Before it works: it may pass the step at once and then wait for very long.
	number, passed, err := w.instruct(worker.Instruction{Do: worker.DoCatch, Step: step, How: worker.Notice})
	if err != nil {
		return nil, err
	}
	defer w.forget(number)
	if _, _, err := w.instruct(worker.Instruction{Do: worker.DoStart}); err != nil {
		return nil, err
	}
	if _, err := w.await(ctx, passed, "pass "+step); err != nil {
		return nil, err
	}
	_, _, err = w.instruct(worker.Instruction{N: number, Do: worker.DoLetGo})
	return w, err
}
