package faults

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/history"
)

// slowServer is one slow node among many, as on a machine whose processor others use: a
// follower, where one leads, or any. It answers everything, late.
func slowServer() Fault {
	return Fault{Name: "slow-server", Family: Servers, Drags: true,
		Doc:   "one of the servers, a follower where one leads, runs a tenth of the time: stopped and continued ten times a second",
		Needs: []Need{AService, AnswersMatter},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			servers := on.Servers()
			if on.Setting().Topology.Leads() {
				leader, err := on.Leader(ctx, nil)
				if err != nil {
					return nil, err
				}
				servers = others(servers, leader)
			}
			if err := aGrant(ctx, on); err != nil {
				return nil, err
			}
			const share, most = 0.1, 0.2
			slow := oneOf(on, servers)
			throttled, err := on.Throttle(ctx, slow, share)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(throttled.Share() < most, "%s ran %.0f%% of %s", slow.Name(), 100*throttled.Share(), seconds(throttled.For()))
			}, nil
		}}
}

// AnswersMatter needs servers each of which is asked before a lock is granted.
func AnswersMatter(s Setting) error {
	if s.Topology.Leads() && !s.Topology.Quorum() {
		return fmt.Errorf("the servers of %s, of which one leads, do not grant by majority: this fault is one slow voter among several", s.Algorithm.Name)
	}
	return nil
}
