package faults

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/lab"
)

// failoverByCommand changes the leader as people do before they work on its machine: it
// lives on. Nobody else has asked for the lock yet, so that all ask the new one.
func failoverByCommand() Fault {
	return Fault{Name: "failover-by-command", Family: Servers, At: whileHolding, // no Trouble: nothing has failed
		Doc:   "people have another server lead while a client holds the lock: SENTINEL FAILOVER, etcd's move-leader, a replica promoted",
		Needs: []Need{ALeader, AHandover, Requests}, MinTTL: promotionTTL, Lasts: Length{TTLs: 1.25},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := on.Leader(ctx, nil)
			if err != nil {
				return nil, err
			}
			v, others, err := alone(ctx, on)
			if err != nil {
				return nil, err
			}
			ordered := clock.Now()
			if err := handOver(ctx, on, leader); err != nil {
				return nil, err
			}
			next, at := successor(ctx, on, leader)
			if err := others(ctx); err != nil {
				return nil, err
			}
			return succeeded(leader, next, "replaced by command while "+on.standing(v), at.Sub(ordered)), ctx.Err()
		}}
}

// handOver tells whoever decides it that another shall lead.
func handOver(ctx context.Context, on Stage, leader Node) (err error) {
	switch whom := on.Sentinels(); {
	case !on.Setting().Topology.Elects():
		return on.Promote(ctx, others(on.Servers(), leader)[0])
	case len(whom) > 0:
		_, err = on.Operate(ctx, whom[0], lab.FailOver, nil)
	default:
		_, err = on.Operate(ctx, leader, lab.FailOver, nil)
	}
	return err
}

// AHandover needs servers that another can be made to lead by a command.
func AHandover(s Setting) error {
	if s.Topology.Elects() && !s.Topology.Knows(lab.FailOver) {
		return fmt.Errorf("the servers of %s, on %s, have no command that makes another lead", s.Algorithm.Name, s.Topology.Name)
	}
	return nil
}
