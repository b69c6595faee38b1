package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
)

// kill ends the process of a client at a step.
func kill() Fault {
	return Fault{Name: "kill", Family: Clients, At: whileHolding, Trouble: history.Death,
		Also: []Family{Clocks}, // a host's clock is moved by a process there
		Doc:  "SIGKILL the process of a client at a step",
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Kill)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(true, "%s was killed while %s stood at %s", v.Worker.Name(), v.Client, on.Step())
			}, nil
		}}
}

func killHolder() Fault {
	return named(kill(), "kill-holder", "SIGKILL the process of a holder at work", whileHolding)
}
