package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
)

// pause freezes the process of a client at a step, for longer than the lease: what a
// stop-the-world collection, a laptop's lid or a live migration does.
func pause() Fault {
	return Fault{Name: "pause", Family: Clients, At: whileHolding, Trouble: history.Freeze,
		Also:   []Family{Clocks}, // a host's clock is moved by a process there
		Doc:    "SIGSTOP the process of a client at a step, until after its lease",
		Inject: freeze(Freeze)}
}

func freeze(how Stop) func(context.Context, Strike) (Proof, error) {
	return func(ctx context.Context, on Strike) (Proof, error) {
		v, err := on.Stop(ctx, nil, on.Step(), how)
		if err != nil {
			return nil, err
		}
		return func() history.Proof {
			return proven(v.Stopped() > on.Fault.Lasts.Of(on.TTL())*9/10, "%s did not run for %s while %s stood at %s (by its own clock; TTL %.3g s)",
				v.Worker.Name(), seconds(v.Stopped()), v.Client, on.Step(), on.TTL().Seconds())
		}, nil
	}
}

func pauseHolder() Fault {
	return named(pause(), "pause-holder", "SIGSTOP the process of a holder at work, until after its lease", whileHolding)
}

// pauseClient freezes one that is about to ask: nobody who waits may keep the others
// from the lock for longer than a lease. No other client of its process is on the way to
// the lock then, or it would be a holder that is frozen.
func pauseClient() Fault {
	return Fault{Name: "pause-client", Family: Clients, Trouble: history.Freeze, Also: []Family{Clocks}, At: AtFirst, Needs: []Need{Requests},
		Doc:    "SIGSTOP a process whose clients are about to ask for the lock, for longer than a lease",
		Inject: freeze(FreezeAll)}
}
