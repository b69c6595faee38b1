package faults

import (
	"context"

	"github.com/lockbench/lockbench/lab"
)

// sentinelReset: people reset Sentinels to be rid of servers that are gone for good.
func sentinelReset() Fault {
	return Fault{Name: "sentinel-reset", Family: Servers, Needs: []Need{Knows(lab.SentinelReset)},
		Doc: "SENTINEL RESET at all Sentinels: they forget the replicas and each other",
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			if err := aGrant(ctx, on); err != nil {
				return nil, err
			}
			did, err := give(ctx, on, lab.SentinelReset, nil, on.Sentinels())
			return did.proof("while clients worked"), err
		}}
}
