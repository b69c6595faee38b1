package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// clientClock moves the clock of one worker's host while a client of another worker
// holds the lock. Everything that runs in the worker reads the moved clock, whatever
// library it is part of.
func clientClock(name, doc string, leases float64, rate float64) Fault {
	return Fault{Name: name, Family: Clocks, Doc: doc,
		Needs: []Need{Can(lab.ClientClocks)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			w := oneOf(on, on.Workers())
			if err := on.Passed(ctx, whileHolding, nil, w); err != nil {
				return nil, err
			}
			want := time.Duration(leases * float64(on.TTL()))
			moved, err := on.MoveClock(ctx, w, want, rate)
			if err != nil {
				return nil, err
			}
			want += time.Duration(rate * float64(on.Fault.Lasts.Of(on.TTL())))
			return func() history.Proof {
				ahead := moved.Ahead()
				return proven(ahead.Abs() > want.Abs()/2 && (ahead > 0) == (want > 0),
					"the clock of %s was %s ahead, as a program there read it, while others held the lock", w.Name(), seconds(ahead))
			}, nil
		}}
}

func clientAhead() Fault {
	return clientClock("client-clock", "the wall clock of one client's host jumps forward by ten leases while another client holds the lock", 10, 0)
}

func clientBehind() Fault {
	return clientClock("client-clock:back", "the wall clock of one client's host jumps backward by ten leases while another client holds the lock", -10, 0)
}

func clientFast() Fault {
	return clientClock("client-clock:fast", "the clocks of one client's host run at twice their speed", 0, 1)
}

// clientDrift lets the clocks of a holder's host run at half their speed while its
// work takes longer than its lease: the holder believes in it for twice as long as
// the server.
func clientDrift() Fault {
	return Fault{Name: "client-clock:drift", Family: Clocks, At: whileHolding,
		Doc:   "the clocks of a holder's host run at half their speed: it believes too long in its lease",
		Needs: []Need{ALease, Can(lab.ClientClocks)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			w := oneOf(on, on.Workers())
			const slow = -0.5
			moved, err := on.MoveClock(ctx, w, 0, slow)
			if err != nil {
				return nil, err
			}
			// The first grant from now on may have been asked for before.
			if err := on.Passed(ctx, on.Step(), w, nil); err != nil {
				return nil, err
			}
			v, err := on.Stop(ctx, w, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(-moved.Ahead() > on.TTL()/2, "the clock of %s fell %s behind, as a program there read it, while %s held the lock for %s",
					w.Name(), seconds(-moved.Ahead()), v.Client, seconds(v.Stopped()))
			}, nil
		}}
}
