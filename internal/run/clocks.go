package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/worker"
)

// MoveClock implements [faults.Stage].
func (s *stage) MoveClock(ctx context.Context, n faults.Node, ahead time.Duration, rate float64) (*faults.Moved, error) {
	set := func(ctx context.Context, ahead time.Duration, rate float64) error {
		if w, ok := s.worker(n); ok {
			_, err := w.ask(ctx, worker.Order{Do: worker.DoClock, Ahead: ahead, Rate: rate})
			return err
		}
		server, err := s.server(n)
		if err != nil {
			return err
		}
		return server.SetClock(ahead, rate)
	}
	read := func(ctx context.Context) (time.Duration, error) {
		if w, ok := s.worker(n); ok {
			r, err := w.ask(ctx, worker.Order{Do: worker.DoAhead})
			return r.Ahead, err
		}
		server, err := s.server(n)
		if err != nil {
			return 0, err
		}
		return server.Clock(ctx)
	}
	end := s.act("move clock", n.Name(), 0)
	var told time.Duration
	s.acts.undone(func(ctx context.Context) (err error) {
		if w, ok := s.worker(n); ok && !w.alive() {
			end("its process is dead")
			return nil
		}
		told, err = read(ctx)
		err = errors.Join(err, set(ctx, 0, 0))
		end(fmt.Sprintf("it was %v ahead", told.Round(time.Millisecond)))
		return err
	})
	if err := set(ctx, ahead, rate); err != nil {
		return nil, err
	}
	return &faults.Moved{Ahead: func() time.Duration { return told }}, nil
}
