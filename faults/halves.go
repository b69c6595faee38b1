package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// cutHalves splits everything in two: the leader with as many servers as make a
// minority and half of the workers on one side, the majority of the servers and
// the other workers on the other.
func cutHalves() Fault {
	return Fault{Name: "cut-halves", Family: Network, Also: []Family{Servers}, Trouble: history.Partition,
		Doc:   "split servers and workers in two, the leader in the minority; each side sees only itself",
		Needs: []Need{SeveralServers, Can(lab.Packets), Can(lab.Strike)}, Hears: true,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			few, many := halves(ctx, on)
			for i, w := range on.Workers() {
				if i%2 == 0 {
					few = append(few, w)
				} else {
					many = append(many, w)
				}
			}
			if err := aGrant(ctx, on); err != nil {
				return nil, err
			}
			drops, err := cutOff(ctx, on, few, many)
			if err != nil {
				return nil, err
			}
			var ears []*Ear
			for _, w := range on.Workers() {
				ear, err := on.Overhear(ctx, w)
				if err != nil {
					return nil, err
				}
				ears = append(ears, ear)
			}
			return func() history.Proof {
				vain, late := sentAgain(ears...)
				return proven(vain > 0, "%s dropped between %s and %s; of what clients and servers said to each other %s",
					english.Count(drops.Packets(), "packet"), names(few), names(many), late)
			}, nil
		}}
}

// halves are a minority of the servers with their leader, and the others with the
// sentinels. Without a leader the first server stands for it.
func halves(ctx context.Context, on Scene) (few, many []Node) {
	servers := on.Servers()
	leader, err := on.Leader(ctx, nil)
	if err != nil {
		leader = servers[0]
	}
	rest := others(servers, leader)
	n := max(0, (len(servers)-1)/2-1)
	return append([]Node{leader}, rest[:n]...), append(rest[n:len(rest):len(rest)], on.Sentinels()...)
}
