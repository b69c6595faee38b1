package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// ServerClock lets the wall clocks of a majority of the servers, or of all where
// one of them leads, jump forward by ten leases while a client holds the lock.
type ServerClock struct{}

func (ServerClock) Name() string { return "server-clock" }
func (ServerClock) Doc() string {
	return "the wall clocks of a majority of the servers jump forward by ten leases while a client holds the lock"
}
func (ServerClock) Available(s lb.Setting) error { return canMoveClocks(s) }
func (ServerClock) MovesServerClocks()           {}
func (ServerClock) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return moveClocks(ctx, on, 10*on.TTL(), 0)
}

// ServerClockDrift lets the same clocks run at three times their speed.
type ServerClockDrift struct{}

func (ServerClockDrift) Name() string { return "server-clock:drift" }
func (ServerClockDrift) Doc() string {
	return "the wall clocks of a majority of the servers run three times as fast while a client holds the lock"
}
func (ServerClockDrift) Available(s lb.Setting) error { return canMoveClocks(s) }
func (ServerClockDrift) MovesServerClocks()           {}
func (ServerClockDrift) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return moveClocks(ctx, on, 0, 2)
}

func canMoveClocks(s lb.Setting) error {
	return errors.Join(needsServers(s), s.Clock, knows(s, whileHolding))
}

// moveClocks holds a holder at work, moves the clocks, and puts them right when it
// heals: a clock that is put back jumps, too, but then nobody holds a lease that
// was given under the wrong time for long.
func moveClocks(ctx context.Context, on lb.Stage, step time.Duration, rate float64) (lb.Heal, error) {
	c, err := on.Catch(ctx, whileHolding, lb.Hold)
	if err != nil {
		return nil, err
	}
	servers := on.Servers()
	moved := servers[:len(servers)/2+1]
	if on.Setting().Leader {
		moved = servers // whoever leads, its clock is among them
	}
	for _, s := range moved {
		err = errors.Join(err, s.SetClock(step, rate))
	}
	if err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, err2)
	}
	return func(ctx context.Context) (lb.Effect, error) {
		ahead, err := moved[0].Clock(ctx)
		whileOthersWork(ctx, on, c.Worker)
		_, err2 := c.LetGo(ctx)
		err = errors.Join(err, err2)
		for _, s := range moved {
			err = errors.Join(err, s.SetClock(0, 0))
		}
		return lb.Effect{
			Bit: ahead > on.TTL()/2,
			Measured: fmt.Sprintf("the clock of %s was %s ahead, as it told itself (%d of %d servers)",
				moved[0].Name(), seconds(ahead), len(moved), len(servers)),
		}, err
	}, nil
}

// ClientClock lets the clock of one worker's host jump forward by more than a
// lease while a client of another worker holds the lock.
type ClientClock struct{}

func (ClientClock) Name() string { return "client-clock" }
func (ClientClock) Doc() string {
	return "the wall clock of one client's host jumps forward by ten leases while another client holds the lock"
}
func (ClientClock) Available(s lb.Setting) error { return knows(s, whileHolding) }
func (ClientClock) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	c, err := on.Catch(ctx, whileHolding, lb.Hold)
	if err != nil {
		return nil, err
	}
	other, err := another(on, c.Worker)
	var ahead time.Duration
	if err == nil {
		ahead, err = other.SetClock(ctx, 10*on.TTL(), 0)
	}
	if err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, err2)
	}
	return func(ctx context.Context) (lb.Effect, error) {
		whileOthersWork(ctx, on, c.Worker)
		_, err := c.LetGo(ctx)
		_, err2 := other.SetClock(ctx, -10*on.TTL(), 0)
		return lb.Effect{
			Bit:      ahead > on.TTL(),
			Measured: fmt.Sprintf("the clock of %s was %s ahead while %s held the lock", other.Name(), seconds(ahead), c.Client),
		}, errors.Join(err, err2)
	}, nil
}

// ClientClockDrift lets the clock of a holder's host run at half its speed: the
// holder believes in its lease for twice as long as the server.
type ClientClockDrift struct{}

func (ClientClockDrift) Name() string { return "client-clock:drift" }
func (ClientClockDrift) Doc() string {
	return "the clock of a holder's host runs at half its speed: it believes too long in its lease"
}
func (ClientClockDrift) Available(s lb.Setting) error {
	if !s.Algorithm.Traits.Leased {
		return fmt.Errorf("%s reads no clock of its client", s.Algorithm.Name)
	}
	return knows(s, whileHolding)
}
func (ClientClockDrift) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	workers := on.Workers()
	w := workers[on.Rand().IntN(len(workers))]
	const slow = -0.5
	if _, err := w.SetClock(ctx, 0, slow); err != nil {
		return nil, err
	}
	start := lb.Now()
	// The first grant from now on may have been asked for before.
	err := w.Passed(ctx, whileHolding)
	var c lb.Caught
	if err == nil {
		c, err = w.Catch(ctx, whileHolding, lb.Hold)
	}
	if err != nil {
		_, err2 := w.SetClock(ctx, 0, 0)
		return nil, errors.Join(err, err2)
	}
	return func(ctx context.Context) (lb.Effect, error) {
		whileOthersWork(ctx, on, c.Worker)
		_, err := c.LetGo(ctx)
		ahead, err2 := w.SetClock(ctx, 0, 0)
		return lb.Effect{
			Bit:      -ahead > on.TTL()/2,
			Measured: fmt.Sprintf("the clock of %s fell %s behind within %s", w.Name(), seconds(-ahead), seconds(lb.Now().Sub(start))),
		}, errors.Join(err, err2)
	}, nil
}

// another is a worker other than this one.
func another(on lb.Stage, one lb.Process) (lb.Worker, error) {
	for _, w := range on.Workers() {
		if w.Name() != one.Name() {
			return w, nil
		}
	}
	return nil, errors.New("faults: there is no other worker; use --processes 2 or more")
}
