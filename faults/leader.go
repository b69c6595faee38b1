package faults

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/lab"
)

// electionBound is how long a lock service may take to find a new leader.
const electionBound = 10 * time.Second

// leaderFault strikes the leader while a client is at work, and watches who follows.
func leaderFault(name string, trouble history.Trouble, doc, done string, needs []Need, strike func(ctx context.Context, on Stage, leader Node) error) Fault {
	return Fault{Name: name, Family: Servers, Trouble: trouble, Doc: doc, Needs: append([]Need{AnElection}, needs...),
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := leaderAtWork(ctx, on)
			if err != nil {
				return nil, err
			}
			struck := clock.Now()
			if err := strike(ctx, on, leader); err != nil {
				return nil, err
			}
			next, after := successor(ctx, on, leader)
			return succeeded(leader, next, done, after.Sub(struck)), ctx.Err()
		}}
}

// leaderAtWork is who leads, when a client has been granted the lock.
func leaderAtWork(ctx context.Context, on Stage) (Node, error) {
	leader, err := on.Leader(ctx, nil)
	if err != nil {
		return nil, err
	}
	return leader, aGrant(ctx, on)
}

// succeeded proves that somebody else led.
func succeeded(old, next Node, done string, after time.Duration) Proof {
	return func() history.Proof {
		if next == nil {
			return proven(false, "%s was %s, and nobody followed within %v", old.Name(), done, electionBound)
		}
		return proven(true, "%s was %s; %s led after %s", old.Name(), done, next.Name(), seconds(after))
	}
}

// killLeader starts it again after the others have elected another.
func killLeader() Fault {
	return leaderFault("kill-leader", history.Failover, "SIGKILL the leader of the lock service; it comes back when the fault is healed", "killed", nil,
		func(ctx context.Context, on Stage, leader Node) error { return on.Kill(ctx, leader) })
}

// pauseLeader freezes it until the others have elected another; it wakes believing
// that it still leads.
func pauseLeader() Fault {
	return leaderFault("pause-leader", "", "SIGSTOP the leader of the lock service, until another leads", "frozen", nil,
		func(ctx context.Context, on Stage, leader Node) error { return on.Freeze(ctx, leader) })
}

// cutLeader cuts it off from its peers, but not from its clients: two leaders may
// serve at once.
func cutLeader() Fault {
	return leaderFault("cut-leader", history.Partition, "drop all packets between the leader and its peers; its clients keep it (split brain)", "cut off from its peers",
		[]Need{Can(lab.Packets)},
		func(ctx context.Context, on Stage, leader Node) error {
			_, err := cutOff(ctx, on, []Node{leader}, others(service(on), leader))
			return err
		})
}

// successor polls the other servers. That nobody follows is a result, not an error.
func successor(ctx context.Context, on Stage, old Node) (next Node, at lb.Instant) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), electionBound)
	defer cancel()
	for ctx.Err() == nil {
		if next, err := on.Leader(ctx, old); err == nil {
			return next, clock.Now()
		}
		if on.Sleep(ctx, 20*time.Millisecond) != nil {
			break
		}
	}
	return nil, clock.Now()
}
