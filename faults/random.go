package faults

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// Random strikes again and again, each time with one of the faults that can strike
// in the setting, as the run's seed has it: for soaking with a long --duration.
// Faults that kill clients for good are left out, since nobody would be left.
type Random struct{}

func (Random) Name() string { return "random" }
func (Random) Doc() string {
	return "one fault after the other, drawn by the seed, until the end of the run"
}
func (Random) Repeats() {}

// mix are the faults to draw from.
func (Random) mix() []lb.Fault {
	return []lb.Fault{
		PauseHolder{}, PauseClient{}, CutHolder{}, PauseAt{"before-write"}, ClientClock{}, ClientClockDrift{},
		LostReply{}, SlowReply{}, CutLeader{}, CutHalves{}, KillLeader{}, PauseLeader{}, RestartServer{},
	}
}

func (f Random) possible(s lb.Setting) (all []lb.Fault) {
	for _, one := range f.mix() {
		if one.Available(s) == nil {
			all = append(all, one)
		}
	}
	return all
}

func (f Random) Available(s lb.Setting) error {
	if len(f.possible(s)) == 0 {
		return fmt.Errorf("no fault can strike %s here", s.Algorithm.Name)
	}
	return nil
}

func (f Random) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	all := f.possible(on.Setting())
	one := all[on.Rand().IntN(len(all))]
	heal, err := one.Inject(ctx, on)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", one.Name(), err)
	}
	return func(ctx context.Context) (lb.Effect, error) {
		e, err := heal(ctx)
		e.Measured = one.Name() + ": " + e.Measured
		return e, err
	}, nil
}
