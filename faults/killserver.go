package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
)

// killServer kills a server when a client comes to a step, and lets the client go on: what
// it does next meets a server that is not there. It is the leader where one leads, else one
// that the seed chooses, and comes back with its disk. [restart] keeps a holder at work
// meanwhile.
func killServer() Fault {
	return Fault{Name: "kill-server", Family: Servers, At: whileHolding, Trouble: history.Failover,
		Doc:   "SIGKILL the server, or the leader of several, when a client comes to a step, which goes on; it comes back with its disk",
		Needs: []Need{AService}, Prefers: AnEnsemble, Lasts: Length{TTLs: 0.5},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			s := oneOf(on, on.Servers())
			if on.Setting().Topology.Leads() {
				leader, err := on.Leader(ctx, nil)
				if err != nil {
					return nil, err
				}
				s = leader
			}
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			if err := on.Kill(ctx, s); err != nil {
				return nil, err
			}
			killed := clock.Now()
			if err := v.LetGo(ctx); err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(true, "%s was killed when %s came to %s, and it went on; the server was back %s later",
					s.Name(), v.Client, on.Step(), seconds(clock.Now().Sub(killed)))
			}, nil
		}}
}
