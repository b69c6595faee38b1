package main

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// freezeServer stops a server for half a lease while a client is at work: a slow disk,
// a migration of its machine. With a step, freeze-server@after-take, it strikes there.
func freezeServer() faults.Fault {
	return faults.Fault{
		Name: "freeze-server", Family: faults.Servers,
		Doc:    "SIGSTOP one server for half a lease while a client is at work",
		Needs:  []faults.Need{faults.AService},
		At:     workloads.StepWork,
		Lasts:  faults.Length{TTLs: 0.5},
		Inject: freeze,
	}
}

func freeze(ctx context.Context, on faults.Strike) (faults.Proof, error) {
	v, err := on.Stop(ctx, nil, on.Step(), faults.Delay)
	if err != nil {
		return nil, err
	}
	servers := on.Servers()
	one := servers[on.Rand().IntN(len(servers))]
	if err := on.Freeze(ctx, one); err != nil {
		return nil, err
	}
	return func() history.Proof {
		return history.Proof{Proven: true, Measured: fmt.Sprintf("%s stood still while %s was at %s", one.Name(), v.Client, on.Step())}
	}, nil
}
