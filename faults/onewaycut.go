package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// oneWayCut is [cut] in one direction: the client hears all that the lock service has to
// say, and is not heard. [loseReply] is the other direction.
func oneWayCut() Fault {
	return Fault{Name: "one-way-cut", Family: Network, At: whileHolding, Trouble: history.Partition,
		Doc:   "drop what the host of a client at a step sends to the lock service, until after its lease; what the lock service sends arrives",
		Needs: []Need{AService, Can(lab.Packets)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			drops, err := on.Drop(ctx, []Node{v.Worker}, service(on))
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(drops.Packets() > 0 && v.Stopped() > 0, "%s stood at %s for %s, and %d packets from %s to the lock service were dropped meanwhile, %d in all, %d of them with data; nothing the other way",
					v.Client, on.Step(), seconds(v.Stopped()), drops.Standing(), v.Worker.Name(), drops.Packets(), drops.Data())
			}, nil
		}}
}
