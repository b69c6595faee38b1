package faults

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// diskFull leaves a server no room for another byte. Some then end themselves, others have
// all wait who want something written.
func diskFull() Fault {
	return Fault{Name: "disk-full", Family: Servers,
		Doc:   "the leader's disk is full while clients work; a server that ends itself because of it comes back when there is room",
		Needs: []Need{OnDisk, Growth, Can(lab.FullDisk)}, Prefers: AnEnsemble,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := on.Leader(ctx, nil)
			if err != nil {
				return nil, err
			}
			if err := aGrant(ctx, on); err != nil {
				return nil, err
			}
			disk, err := on.FillDisk(ctx, leader)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				then := "went on"
				if disk.Ended {
					then = "ended itself"
				}
				return proven(disk.Ended || disk.Complaints > 0, "%s had no room on its disk, told so %s in its log, and %s",
					leader.Name(), times(disk.Complaints), then)
			}, nil
		}}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
