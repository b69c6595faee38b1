package faults

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// deafLeader hears none of its peers, and they hear it; its clients and it hear each other. It
// goes on to tell all that it leads, and nobody's consent reaches it. Those that hear it may
// elect it again and again, so that nobody else leads, which is an effect, too.
func deafLeader() Fault {
	return Fault{Name: "deaf-leader", Family: Servers, Trouble: history.Partition,
		Doc:   "drop what its peers send to the leader, while what it sends to them arrives, and its clients keep it",
		Needs: []Need{AnElection, Can(lab.Packets)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, err := leaderAtWork(ctx, on)
			if err != nil {
				return nil, err
			}
			struck := clock.Now()
			drops, err := on.Drop(ctx, others(service(on), leader), []Node{leader})
			if err != nil {
				return nil, err
			}
			follows := fmt.Sprintf("nobody else led within %v", electionBound)
			if next, at := successor(ctx, on, leader); next != nil {
				follows = fmt.Sprintf("%s led after %s", next.Name(), seconds(at.Sub(struck)))
			}
			return func() history.Proof {
				return proven(drops.Packets() > 0, "%s from its peers to %s, which led, dropped; %s", english.Count(drops.Packets(), "packet"), leader.Name(), follows)
			}, ctx.Err()
		}}
}
