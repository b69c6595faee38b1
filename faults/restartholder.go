package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
)

// restartHolder kills the process of a holder and starts it again at once, as a supervisor
// does. It is who it was for the lock, and knows nothing of what it held.
func restartHolder() Fault {
	return secondLife("restart-holder", history.Death, "SIGKILL the process of a holder at work and start it again at once, with the same identity", Kill)
}

// twinHolder starts a second process with a holder's identity while the first works: a
// container that was cloned, or one whose supervisor took it for dead.
func twinHolder() Fault {
	return secondLife("twin-holder", "", "start a second process with the identity of a holder, which goes on within its lease", Delay)
}

func secondLife(name string, trouble history.Trouble, doc string, first Stop) Fault {
	return Fault{Name: name, Family: Clients, Also: []Family{Clocks}, Trouble: trouble, Doc: doc, At: whileHolding, MinTTL: promotionTTL, Lasts: withinLease, Needs: []Need{AService, Requests},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), first)
			if err != nil {
				return nil, err
			}
			since := clock.Now()
			again, err := on.StartAgain(ctx, v.Worker, Fault{At: AtFirst}.Step(on.Setting()))
			if err != nil {
				return nil, err
			}
			asked := clock.Now().Sub(since)
			return func() history.Proof {
				then := "had been killed there"
				if first != Kill {
					then = "stood there"
				}
				return proven(asked < time.Duration(float64(on.TTL())*0.9), "%s, which is %s once more, asked for the lock %s after %s had come to %s; that one %s (TTL %.3g s)",
					again.Name(), v.Worker.Name(), seconds(asked), v.Client, on.Step(), then, on.TTL().Seconds())
			}, nil
		}}
}
