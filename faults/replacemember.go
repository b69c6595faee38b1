package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/history"
)

// replaceMember is what people do when a machine of an ensemble is gone for good: a new one,
// with an empty disk, takes its place.
func replaceMember() Fault {
	return Fault{Name: "replace-member", Family: Servers, At: whileHolding, Trouble: history.Failover, Lasts: withinLease, MinTTL: promotionTTL, Takes: 20 * time.Second,
		Doc:   "a server is killed while a client holds the lock, removed from the ensemble, and another with an empty disk joins in its place",
		Needs: []Need{SeveralServers, Members},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, s, err := killUnder(ctx, on)
			if err != nil {
				return nil, err
			}
			if err := v.LetGo(ctx); err != nil { // a removal may wait for an election
				return nil, err
			}
			if err := on.Replace(ctx, s); err != nil {
				return nil, err
			}
			down, err := on.Restart(ctx, s, true)(ctx)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(true, "%s was killed while %s, and removed; another with an empty disk was in its place after %s", s.Name(), on.standing(v), seconds(down))
			}, nil
		}}
}

// Members needs servers whose ensemble takes a new member while it runs.
func Members(s Setting) error {
	if !s.Topology.Members() {
		return fmt.Errorf("the servers of %s, on %s, take no new member while they run: who they are stands in their configuration", s.Algorithm.Name, s.Topology.Name)
	}
	return nil
}
