package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// reconnectStorm is what a firewall, a proxy or a load balancer does that loses what it knew:
// every connection is reset, and all connect again at once. The client at the step goes on
// within its lease.
func reconnectStorm() Fault {
	return Fault{Name: "reconnect-storm", Family: Network, At: whileHolding, MinTTL: promotionTTL, Lasts: withinLease,
		Doc:   "all connections between clients and the lock service are reset at once, that of a client at a step among them, which goes on within its lease",
		Needs: []Need{AService, Requests, Can(lab.Packets)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			gone, err := on.Disconnect(ctx, service(on), on.Workers())
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(gone.Ended >= len(on.Workers()) && gone.Again() > 0, "%s of all clients reset while %s stood at %s; there were %d again after %s",
					english.Count(gone.Ended, "connection"), v.Client, on.Step(), gone.Again(), seconds(v.Stopped()))
			}, nil
		}}
}
