package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// serverClock moves the wall clocks of a majority of the servers, or of all where one
// of them leads, while a client holds the lock. A clock that is put back jumps, too,
// but then nobody holds a lease that was given under the wrong time for long.
func serverClock(name, doc string, leases, rate float64) Fault {
	return Fault{Name: name, Family: Clocks, Also: []Family{Servers}, At: whileHolding, Doc: doc, Trouble: history.WrongTime,
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
				// The last is read first, before any is put right: ZooKeeper's servers tell the
				// time of their leader.
				last := len(clocks) - 1
				ahead := clocks[last].Ahead()
				return proven(ahead.Abs() > on.TTL()/2 && (ahead > 0) == (leases+rate > 0), "the clock of %s was %s, as it told itself, while %s (%d of %s)",
					moved[last].Name(), off(ahead), on.standing(v), len(moved), english.Count(len(servers), "server"))
			}, nil
		}}
}

func serverAhead() Fault {
	return serverClock("server-clock", "the wall clocks of a majority of the servers jump forward by ten leases while a client holds the lock", 10, 0)
}

func serverDrift() Fault {
	return serverClock("server-clock:drift", "the wall clocks of a majority of the servers run three times as fast while a client holds the lock", 0, 2)
}

// serverBehind is a step backward: what was granted lasts longer on the server than its
// holder thinks. Put right, the clock jumps forward, under whoever holds the lock then.
func serverBehind() Fault {
	return serverClock("server-clock:back", "the wall clocks of a majority of the servers jump backward by ten leases while a client holds the lock, and are put right again", -10, 0)
}
