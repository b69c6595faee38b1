package run

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/clock"
)

// throttlePeriod is in what time a server that is throttled runs once. On a busy machine it
// may run for longer, and is then stopped for longer.
const throttlePeriod = 100 * time.Millisecond

// Throttle implements [faults.ServerActs].
func (s *strike) Throttle(ctx context.Context, n faults.Node, share float64) (*faults.Throttled, error) {
	server, err := s.server(n)
	if err != nil {
		return nil, err
	}
	start, end := clock.Now(), s.act("throttle", n.Name(), 0)
	turn := time.Duration(share * float64(throttlePeriod))
	var stopped, lasted time.Duration
	stop := meanwhile(ctx, func(ctx context.Context) error {
		for ran := turn; ctx.Err() == nil; {
			since := clock.Now()
			if err := server.Signal(syscall.SIGSTOP); err != nil {
				return err
			}
			_ = sleep(ctx, time.Duration(float64(ran)*(1-share)/share))
			if err := server.Signal(syscall.SIGCONT); err != nil {
				return err
			}
			now := clock.Now()
			stopped += now.Sub(since)
			_ = sleep(ctx, turn)
			ran = clock.Now().Sub(now)
		}
		return nil
	})
	part := func() float64 { return 1 - float64(stopped)/float64(max(lasted, 1)) }
	s.acts.undone(func(ctx context.Context) error {
		err := stop(ctx)
		lasted = clock.Now().Sub(start)
		end(fmt.Sprintf("it ran %.0f%% of the time", 100*part()))
		if err != nil {
			err = errors.Join(fmt.Errorf("throttle %s: %w", n.Name(), err), server.Signal(syscall.SIGCONT))
		}
		return err
	})
	return &faults.Throttled{Share: part, For: func() time.Duration { return lasted }}, ctx.Err()
}
