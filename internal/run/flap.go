package run

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// Flap implements [faults.NetworkActs].
func (s *strike) Flap(ctx context.Context, a, b []faults.Node, down, up time.Duration) (*faults.Flaps, error) {
	one, err := s.places(a)
	if err != nil {
		return nil, err
	}
	other, err := s.places(b)
	if err != nil {
		return nil, err
	}
	end := s.act("flap", names(a)+" ↔ "+names(b), 0)
	var packets uint64
	var stood time.Duration
	times := 0
	stop := meanwhile(ctx, func(ctx context.Context) error {
		for ; ctx.Err() == nil; times++ {
			n, d, err := s.downFor(ctx, one, other, down)
			packets, stood = packets+n, stood+d
			if err != nil {
				return err
			}
			_ = sleep(ctx, up)
		}
		return nil
	})
	s.acts.undone(func(ctx context.Context) error {
		err := stop(ctx)
		end(english.Count(packets, "packet") + " dropped, " + english.Count(times, "time"))
		return err
	})
	return &faults.Flaps{Packets: func() uint64 { return packets }, Times: func() int { return times }, Down: func() time.Duration { return stood }}, ctx.Err()
}

// downFor cuts one side off the other for a while, or until ctx ends, and says for how long both were.
func (s *strike) downFor(ctx context.Context, a, b []lab.Node, d time.Duration) (packets uint64, stood time.Duration, err error) {
	there, err := s.lab.Network().Drop(a, b, 1)
	if err != nil {
		return 0, 0, err
	}
	back, err := s.lab.Network().Drop(b, a, 1)
	if err != nil {
		return 0, 0, errors.Join(err, there.Remove())
	}
	began := time.Now()
	_ = sleep(ctx, d)
	stood = time.Since(began)
	for _, rule := range []lab.Rule{there, back} {
		n, e := rule.Packets()
		packets, err = packets+n, errors.Join(err, e, rule.Remove())
	}
	return packets, stood, err
}
