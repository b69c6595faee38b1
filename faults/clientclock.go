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
	return Fault{Name: name, Family: Clocks, Doc: doc, Trouble: history.WrongTime,
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
					"the clock of %s was moved when a client of another process had come to %s, and was %s, as a program there read it", w.Name(), whileHolding, off(ahead))
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

// clientSlow lets the clocks of a holder's host lose a share of the time while its work
// takes longer than its lease: the holder believes in it for longer than the server.
func clientSlow(name, doc string, share float64) Fault {
	return Fault{Name: name, Family: Clocks, At: whileHolding, Doc: doc, Trouble: history.WrongTime,
		Needs: []Need{ALease, Can(lab.ClientClocks)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			w := oneOf(on, on.Workers())
			moved, err := on.MoveClock(ctx, w, 0, -share)
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
				behind := -moved.Ahead()
				return proven(behind.Seconds() > share*on.TTL().Seconds(), "the clock of %s fell %s behind, as a program there read it, while %s for %s",
					w.Name(), seconds(behind), on.standing(v), seconds(v.Stopped()))
			}, nil
		}}
}

func clientDrift() Fault {
	return clientSlow("client-clock:drift", "the clocks of a holder's host run at half their speed: it believes too long in its lease", 0.5)
}

// clientCreep is a drift that a lock can allow for. The lease is long, so that a hundredth of
// it is longer than the bench needs to let the holder go in it.
func clientCreep() Fault {
	f := clientSlow("client-clock:creep", "the clocks of a holder's host lose a hundredth of the time over a long lease, just after whose end it goes on", 0.01)
	f.MinTTL, f.Lasts = 20*time.Second, Length{TTLs: 1.001}
	return f
}
