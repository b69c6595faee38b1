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
			leader, v, err := heldLeader(ctx, on)
			if err != nil {
				return nil, err
			}
			return takeOver(ctx, on, leader, v)
		}}
}

// failoverUnreplicated is [failover] after the leader's link to those that copy it was cut: the grant, or
// its renewal, is surely lost.
func failoverUnreplicated() Fault {
	return Fault{Name: "failover-unreplicated", Family: Servers, At: whileHolding, Trouble: history.Failover,
		Doc:   "cut the leader's link to the servers that copy it while a client holds the lock, SIGKILL the leader a lease later, under a holder; another takes over",
		Needs: []Need{NoQuorum, ALeader, Can(lab.Packets)}, MinTTL: promotionTTL, Lasts: Length{TTLs: 1.25},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := on.Leader(ctx, nil)
			if err != nil {
				return nil, err
			}
			// Who holds the lock keeps the others out: a link cut in the middle of an acquisition
			// could leave half of it with the next leader, a key without its expiry for ever.
			// One who renews it keeps it until the leader is killed: a wait for the next could be a long
			// one, and sentinels promote nobody who was cut off for much longer than they take to
			// call a leader down (10 times "down-after-milliseconds").
			holds, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			copies, err := on.Followers(ctx, leader)
			if err != nil {
				return nil, err
			}
			// Whoever decides that still sees the leader, or it would be replaced too early.
			link, err := cutOff(ctx, on, []Node{leader}, copies)
			if err != nil {
				return nil, err
			}
			renews := on.Setting().Algorithm.Traits.Renewing
			if !renews {
				if err := holds.LetGo(ctx); err != nil {
					return nil, err
				}
			}
			// What the others know of the lock at this moment, a grant whose renewals and release
			// they will never hear of, must have run out, or it would keep the lock taken there.
			if err := on.Sleep(ctx, on.TTL()); err != nil {
				return nil, err
			}
			if !renews {
				if holds, err = on.Stop(ctx, nil, on.Step(), Delay); err != nil {
					return nil, err
				}
			}
			led, err := takeOver(ctx, on, leader, holds)
			if err != nil {
				return nil, err
			}
			if err := link.End(ctx); err != nil { // who comes back has to hear of its successor
				return nil, err
			}
			return func() history.Proof {
				p := led()
				return proven(p.Proven && link.Packets() > 0, "%s; dropped between it and %s until then: %s", p.Measured, names(copies), english.Count(link.Packets(), "packet"))
			}, nil
		}}
}

// heldLeader is the leader, and who is stopped while it holds the lock.
func heldLeader(ctx context.Context, on Strike) (leader Node, v *Victim, err error) {
	if leader, err = on.Leader(ctx, nil); err == nil {
		v, err = on.Stop(ctx, nil, on.Step(), Delay)
	}
	return leader, v, err
}

// takeOver kills the leader under a holder who is stopped, and is let go when the fault is healed.
func takeOver(ctx context.Context, on Strike, leader Node, v *Victim) (Proof, error) {
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
