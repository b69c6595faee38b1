package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// diskStall: the leader's process runs, answers pings and thinks that it leads, but nothing
// that it writes gets to its disk.
func diskStall() Fault {
	return Fault{Name: "disk-stall", Family: Servers, Durable: true,
		Doc:   "the leader's disk stalls: every write that is waited for waits until the fault is healed, while the process runs",
		Needs: []Need{OnDisk, Can(lab.StallDisk)}, Prefers: AnEnsemble,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := on.Leader(ctx, nil)
			if err != nil {
				leader = oneOf(on, on.Servers())
			}
			if err := aGrant(ctx, on); err != nil {
				return nil, err
			}
			stalled, err := on.StallDisk(ctx, leader)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(stalled.Calls() > 0, "%s waited %s for its disk to write, for up to %s", leader.Name(), times(stalled.Calls()), seconds(stalled.For()))
			}, nil
		}}
}
