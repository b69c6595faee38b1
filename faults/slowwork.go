package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
)

// slowWork is work that takes longer than the lease, in a process that runs and on a machine
// with which nothing is wrong: what tells a lock that is renewed while its holder works from
// one that is not.
func slowWork() Fault {
	return Fault{Name: "slow-work", Family: Clients, At: whileHolding,
		Doc: "the work of one holder takes longer than its lease; its process, and with it what renews the lock, goes on",
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(v.Stopped() >= on.Fault.Lasts.Of(on.TTL())*9/10, "%s was at %s for %s, of a lease of %.3g s; this fault stops no process",
					v.Client, on.Step(), seconds(v.Stopped()), on.TTL().Seconds())
			}, nil
		}}
}
