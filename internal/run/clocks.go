package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/worker"
)

// MoveClock implements [faults.ClockActs].
func (s *strike) MoveClock(ctx context.Context, n faults.Node, ahead time.Duration, rate float64) (*faults.Moved, error) {
	set := func(ctx context.Context, ahead time.Duration, rate float64) error {
		if w, ok := s.worker(n); ok {
			for _, w := range s.workers.on(w.host) { // each process has a clock of its own
				if _, err := w.ask(ctx, worker.Instruction{Do: worker.DoClock, Ahead: ahead, Rate: rate}); err != nil {
					return err
				}
			}
			return nil
		}
		server, err := s.server(n)
		if err != nil {
			return err
		}
		return server.SetClock(ahead, rate)
	}
	read := func(ctx context.Context) (time.Duration, error) {
		if w, ok := s.worker(n); ok {
			r, err := w.ask(ctx, worker.Instruction{Do: worker.DoAhead})
			return r.Ahead, err
		}
		server, err := s.server(n)
		if err != nil {
			return 0, err
		}
		return server.Clock(ctx)
	}
	var since lb.Instant // now, or since the start where that is how it was started
	if s.skewed.ahead == ahead && n.Name() == s.workers.list()[0].Name() {
		since = s.skewed.since
	}
	end := s.act("move clock", n.Name(), since)
	var told time.Duration
	s.acts.undone(func(ctx context.Context) (err error) {
		if w, ok := s.worker(n); ok && !w.alive() {
			end("its process is dead")
			return nil
		}
		told, err = read(ctx)
		err = errors.Join(err, set(ctx, 0, 0))
		how := "ahead"
		if told < 0 {
			how = "behind"
		}
		end(fmt.Sprintf("it was %v %s", told.Abs().Round(time.Millisecond), how))
		return err
	})
	if err := set(ctx, ahead, rate); err != nil {
		return nil, err
	}
	return &faults.Moved{Ahead: func() time.Duration { return told }}, nil
}
