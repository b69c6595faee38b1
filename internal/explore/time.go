package explore

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// virtual is the time of all orders: the machine's, and what the scheduler has let pass.
type virtual struct{ leapt atomic.Int64 }

func (v *virtual) ahead() time.Duration { return time.Duration(v.leapt.Load()) }
func (v *virtual) now() lb.Instant      { return clock.Now().Add(v.ahead()) }

// lapse is more than the time of a lease. A moment is far less than that, and longer than a lease that was
// meant to be in other units.
const (
	lapse  = TTL + TTL/10
	moment = TTL / 600
)

// leap lets time pass on every clock: what is on the servers by their clocks ends with it.
func (e *engine) leap(d time.Duration) error {
	e.time.leapt.Add(int64(d))
	var err error
	switch {
	case e.ends != endsLeases:
	case !e.info.WallClock:
		err = e.setClocks(e.time.ahead())
	case d > TTL: // the servers' clocks are to be the library's, but for what is over
		err = e.setClocks(d)
		for _, s := range e.service.Servers {
			err = errors.Join(err, s.Sweep(context.Background()))
		}
		err = errors.Join(err, e.setClocks(0))
	}
	if e.info.Program {
		clock.Leap(d)
	}
	return err
}

// backToNow has the servers' clocks follow the machine's again where the clients' can't follow them.
func (e *engine) backToNow() error {
	if e.timeless == "" || e.time.ahead() == 0 {
		return nil
	}
	e.time.leapt.Store(0)
	if e.ends != endsLeases {
		return nil
	}
	return e.setClocks(0)
}

func (e *engine) setClocks(ahead time.Duration) (err error) {
	for _, s := range e.service.Servers {
		err = errors.Join(err, s.SetClock(ahead, 0))
	}
	return err
}
