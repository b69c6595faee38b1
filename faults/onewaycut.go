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
		Needs: []Need{AService, Can(lab.Packets)}, Hears: true,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			drops, err := on.Drop(ctx, []Node{v.Worker}, service(on))
			if err != nil {
				return nil, err
			}
			ear, err := on.Overhear(ctx, v.Worker)
			return func() history.Proof {
				said, _ := ear.Fell()
				return fell(on, v, ear, said, drops, "from "+v.Worker.Name()+" to the lock service", "; nothing the other way")
			}, err
		}}
}
