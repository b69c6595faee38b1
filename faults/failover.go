package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// failover kills the leader while a client holds the lock and another server takes
// over, by itself where the servers do that, promoted by the bench where not.
func failover() Fault {
	return Fault{Name: "failover", Family: Servers, At: whileHolding, Trouble: history.Failover,
		Doc:   "SIGKILL the leader while a client holds the lock; another takes over",
		Needs: []Need{ALeader}, MinTTL: promotionTTL, Lasts: Length{TTLs: 1.25},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := on.Leader(ctx, nil)
			if err != nil {
				return nil, err
			}
			return takeOver(ctx, on, leader)
		}}
}

// failoverUnreplicated is [failover] after the leader's link to the others was cut:
// the grant is surely lost.
func failoverUnreplicated() Fault {
	return Fault{Name: "failover-unreplicated", Family: Servers, At: whileHolding, Trouble: history.Failover,
		Doc:   "cut the leader's link to the other servers, wait for a grant, SIGKILL the leader; another takes over",
		Needs: []Need{NoQuorum, ALeader, Can(lab.Packets)}, MinTTL: promotionTTL, Lasts: Length{TTLs: 1.25},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := on.Leader(ctx, nil)
			if err != nil {
				return nil, err
			}
			// The sentinels still see the leader, or they would replace it too early.
			link, err := cutOff(ctx, on, []Node{leader}, others(on.Servers(), leader))
			if err != nil {
				return nil, err
			}
			// What the others know of the lock at this moment, a grant whose release they
			// will never hear of, must have run out, or it would keep the lock taken there.
			if err := on.Sleep(ctx, on.TTL()); err != nil {
				return nil, err
			}
			led, err := takeOver(ctx, on, leader)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				p := led()
				return proven(p.Proven && link.Packets() > 0, "%s; dropped between it and the others until then: %s", p.Measured, english.Count(link.Packets(), "packet"))
			}, nil
		}}
}

// takeOver kills the leader under a holder, who is let go when the fault is healed.
func takeOver(ctx context.Context, on Strike, leader Node) (Proof, error) {
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err != nil {
		return nil, err
	}
	struck := clock.Now()
	if err := on.Kill(ctx, leader); err != nil {
		return nil, err
	}
	if err := on.Promote(ctx, others(on.Servers(), leader)[0]); err != nil {
		return nil, err
	}
	next, at := successor(ctx, on, leader)
	lease := on.TTL()
	if !on.Setting().Algorithm.Traits.Leased {
		lease = 0
	}
	return inTime(succeeded(leader, next, "killed while "+on.standing(v), at.Sub(struck)), at.Sub(struck), lease), ctx.Err()
}

// inTime proves nothing of a leader that followed when every lease that the old one had granted was
// over: nobody can lose by it what has ended by itself. A lease of 0 does not end.
func inTime(led Proof, after, lease time.Duration) Proof {
	return func() history.Proof {
		p := led()
		if p.Proven && lease > 0 && after > lease {
			return proven(false, "%s, when every lease of %.3g s that the other had granted was over", p.Measured, lease.Seconds())
		}
		return p
	}
}
