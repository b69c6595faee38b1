package faults

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// releaseTwice is a client that gives back again what it has given back, as people do in a
// finally block behind the release, or when a timeout made them doubt. The other who holds
// the lock by then works within its lease.
func releaseTwice() Fault {
	return Fault{Name: "release-twice", Family: Clients, MinTTL: expiryTTL, Lasts: withinLease,
		Doc:   "a client that has given its lock back calls the same release again, while another holds the lock",
		Needs: []Need{AService, Requests},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			gave, holds, err := gaveToAnother(ctx, on)
			if err != nil {
				return nil, err
			}
			answer, err := on.ReleaseAgain(ctx, gave)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(true, "%s released %s again, which it had released before, while %s held the lock; the answer was %q",
					gave.Client, gave.ID, holds.Client, answer)
			}, nil
		}}
}

// gaveToAnother stops a client that has just given a lock back and one that holds the same
// by then, at work. Of several locks another may be the one that somebody takes next.
func gaveToAnother(ctx context.Context, on Strike) (gave, holds *Victim, err error) {
	for {
		if gave, err = on.Stop(ctx, nil, workloads.StepReleased, Delay); err != nil {
			return nil, nil, err
		}
		soon, cancel := context.WithTimeout(ctx, on.TTL())
		holds, err = on.Stop(soon, nil, whileHolding, Delay)
		cancel()
		switch {
		case err == nil && holds.Lock == gave.Lock:
			return gave, holds, nil
		case err == nil:
			err = holds.LetGo(ctx)
		case errors.Is(err, ErrNobody) && ctx.Err() == nil:
			err = nil
		}
		if err = errors.Join(err, gave.LetGo(ctx)); err != nil {
			return nil, nil, err
		}
	}
}
