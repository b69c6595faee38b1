package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// cut cuts the host of a client off the lock service, but not off the protected
// store, while the client stays at the step for longer than its lease: it can still
// write, and it can neither renew nor ask.
func cut() Fault {
	return Fault{Name: "cut", Family: Network, At: whileHolding, Trouble: history.Partition,
		Doc:   "drop all packets between the host of a client at a step and the lock service, until after its lease",
		Needs: []Need{AService, Can(lab.Packets)}, Prefers: AnEnsemble,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, drops, err := cutUnder(ctx, on)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(drops.Packets() > 0 && v.Stopped() > 0, "%s stood at %s for %s, and %d packets between %s and the lock service were dropped meanwhile, %d in all",
					v.Client, on.Step(), seconds(v.Stopped()), drops.Standing(), v.Worker.Name(), drops.Packets())
			}, nil
		}}
}

// cutUnder cuts the host of a client off the lock service while it stands at the fault's step.
func cutUnder(ctx context.Context, on Strike) (*Victim, *Drops, error) {
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err != nil {
		return nil, nil, err
	}
	drops, err := cutOff(ctx, on, []Node{v.Worker}, service(on))
	return v, drops, err
}

func cutHolder() Fault {
	return named(cut(), "cut-holder",
		"drop all packets between a working holder's host and the lock service, until after its lease", whileHolding)
}
