package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// cutRejoin cuts the host of a client off the lock service when it comes to a step, and
// lets it go on: it asks, waits and connects again, and perhaps comes back to a session
// that it still has, by a connection from before. [cut] keeps the client where it is.
func cutRejoin() Fault {
	return Fault{Name: "cut-rejoin", Family: Network, At: whileHolding, Trouble: history.Partition,
		Doc:   "drop all packets between the host of a client at a step, which goes on, and the lock service, until after its lease",
		Needs: []Need{AService, Can(lab.Packets)}, Prefers: AnEnsemble, Lasts: Length{TTLs: 1.5},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, drops, err := cutUnder(ctx, on)
			if err != nil {
				return nil, err
			}
			if err := v.LetGo(ctx); err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(drops.Packets() > 0, "%s between %s and the lock service dropped for %s, from when %s came to %s, and it went on",
					english.Count(drops.Packets(), "packet"), v.Worker.Name(), seconds(drops.Lasted()), v.Client, on.Step())
			}, nil
		}}
}
