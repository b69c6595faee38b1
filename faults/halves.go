package faults

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// CutHalves splits everything in two: the leader with as many servers as make a
// minority and half of the workers on one side, the majority of the servers and
// the other workers on the other.
type CutHalves struct{}

func (CutHalves) Name() string { return "cut-halves" }
func (CutHalves) Doc() string {
	return "split servers and workers in two, the leader in the minority; each side sees only itself"
}
func (CutHalves) Available(s lb.Setting) error {
	if s.Servers < 2 {
		return fmt.Errorf("%s runs on one server, which can't be halved", s.Algorithm.Name)
	}
	return needsNetwork(s)
}

func (CutHalves) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	few, many := halves(ctx, on)
	if err := on.Passed(ctx, whileBeginning, nil); err != nil {
		return nil, fmt.Errorf("faults: nobody was granted the lock: %w", err)
	}
	cut, err := cutOff(on, few, many)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lb.Effect, error) {
		packets, err := cut.packets()
		return lb.Effect{
			Bit:      packets > 0,
			Measured: fmt.Sprintf("%d packets dropped between %s and %s", packets, names(few), names(many)),
		}, errors.Join(err, cut.heal())
	}, nil
}

// halves are the sides of the split. Without a leader the first server stands for
// it.
func halves(ctx context.Context, on lb.Stage) (few, many []lb.Process) {
	servers := on.Servers()
	leader, err := on.Leader(ctx, nil)
	if err != nil {
		leader = servers[0]
	}
	few = append(few, leader)
	for _, s := range servers {
		switch {
		case s.Name() == leader.Name():
		case len(few) < (len(servers)-1)/2:
			few = append(few, s)
		default:
			many = append(many, s)
		}
	}
	many = append(many, processes(on.Sentinels())...)
	for i, w := range on.Workers() {
		if i%2 == 0 {
			few = append(few, w)
		} else {
			many = append(many, w)
		}
	}
	return few, many
}

func names(ps []lb.Process) (s string) {
	for i, p := range ps {
		if i > 0 {
			s += "+"
		}
		s += p.Name()
	}
	return s
}
