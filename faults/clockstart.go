package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// clockFromStart is a wall clock of a client's host that has been wrong since before the
// client opened its session: nothing there has ever seen it jump. It is put right when the
// fault is healed.
func clockFromStart(name, doc string, leases float64) Fault {
	return Fault{Name: name, Family: Clocks, Doc: doc, StartsAhead: leases, Trouble: history.WrongTime,
		Needs: []Need{Can(lab.ClientClocks)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			w := on.Workers()[0]
			want := time.Duration(leases * float64(on.TTL()))
			moved, err := on.MoveClock(ctx, w, want, 0) // to where it is
			if err != nil {
				return nil, err
			}
			if err := on.Passed(ctx, whileBeginning, nil, w); err != nil {
				return nil, err
			}
			return func() history.Proof {
				ahead := moved.Ahead()
				return proven(ahead.Abs() > want.Abs()/2 && (ahead > 0) == (want > 0),
					"the clock of %s was %s, as a program there read it, from before its clients opened their sessions; others were granted the lock meanwhile", w.Name(), off(ahead))
			}, nil
		}}
}

func clientAheadFromStart() Fault {
	return clockFromStart("client-clock:ahead-from-start", "the wall clock of one client's host is ten leases ahead from before it opens its session", 10)
}

func clientBehindFromStart() Fault {
	return clockFromStart("client-clock:behind-from-start", "the wall clock of one client's host is ten leases behind from before it opens its session", -10)
}
