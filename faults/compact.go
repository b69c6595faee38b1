package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// compact removes the past in which a client is about to begin to watch: it has looked who
// is before it, and is slow.
func compact() Fault {
	return Fault{Name: "compact", Family: Servers, At: "watch", Lasts: withinLease,
		Doc:   "the servers forget all old revisions while a client is about to watch from one of them",
		Needs: []Need{Knows(lab.Compact)}, Prefers: AnEnsemble,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			// Whoever is before it gives the lock back and comes again: its revision gets old.
			if err := on.Sleep(ctx, on.TTL()/4); err != nil {
				return nil, err
			}
			leader, err := on.Leader(ctx, nil)
			if err != nil {
				return nil, err
			}
			did, err := on.Operate(ctx, leader, lab.Compact, nil)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				e := did.Effect()
				return proven(e.Count > 0 && v.Stopped() > 0, "%s %s while %s stood at %s for %s", leader.Name(), e.Told, v.Client, on.Step(), seconds(v.Stopped()))
			}, nil
		}}
}
