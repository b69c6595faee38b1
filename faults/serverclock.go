package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
)

// serverClock moves the wall clocks of a majority of the servers, or of all where one
// of them leads, while a client holds the lock. A clock that is put back jumps, too,
// but then nobody holds a lease that was given under the wrong time for long.
func serverClock(name, doc string, leases, rate float64) Fault {
	return Fault{Name: name, Family: Clocks, At: whileHolding, Doc: doc,
		Needs: []Need{ServerClocks},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			servers := on.Servers()
			moved := servers[:len(servers)/2+1]
			if on.Setting().Topology.Leads() {
				moved = servers // whoever leads, its clock is among them
			}
			var clocks []*Moved
			for _, s := range moved {
				m, err := on.MoveClock(ctx, s, time.Duration(leases*float64(on.TTL())), rate)
				if err != nil {
					return nil, err
				}
				clocks = append(clocks, m)
			}
			return func() history.Proof {
				ahead := clocks[0].Ahead()
				return proven(ahead > on.TTL()/2, "the clock of %s was %s ahead, as it told itself, while %s held the lock (%d of %d servers)",
					moved[0].Name(), seconds(ahead), v.Client, len(moved), len(servers))
			}, nil
		}}
}

func serverAhead() Fault {
	return serverClock("server-clock", "the wall clocks of a majority of the servers jump forward by ten leases while a client holds the lock", 10, 0)
}

func serverDrift() Fault {
	return serverClock("server-clock:drift", "the wall clocks of a majority of the servers run three times as fast while a client holds the lock", 0, 2)
}
