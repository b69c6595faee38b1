package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
)

// sharedSession has the clients of each process use one session (a connection, a lease, an
// identity) from the beginning, as threads of a program share the client of a library. It
// is proven when one of them asks for the lock while another of its session holds it.
func sharedSession() Fault {
	return Fault{Name: "shared-session", Family: Clients, At: whileHolding, MinTTL: expiryTTL, Lasts: withinLease, SharedSession: true,
		Doc:   "all clients of a process share one session from the beginning, as threads do; one asks for the lock while another holds it",
		Needs: []Need{AService, Requests, ATry},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			if err := on.Passed(ctx, Fault{At: AtFirst}.Step(on.Setting()), v.Worker, nil); err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(true, "another client of %s asked for the lock, in the session of %s, which stood at %s, for %s",
					v.Worker.Name(), v.Client, on.Step(), seconds(v.Stopped()))
			}, nil
		}}
}
