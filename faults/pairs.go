package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
)

// CutTwoThen is the pair of faults that Redlock is known to fall for. Two of the
// five nodes can't be reached by a client while it takes the lock, so that it holds
// a bare majority; then one node of that majority forgets. With the two, which
// never knew, the others have a majority, too.
//
// Sources: M. Kleppmann, "How to do distributed locking" (the clock); the Redlock
// specification, section on crash recovery (the restart).
type CutTwoThen struct {
	name, doc string
	// forget makes s forget. What it returns is called at the heal: it puts right
	// what must be, and tells what happened.
	forget func(ctx context.Context, on lb.Stage, s lb.Server) (heal func() (told string, err error), err error)
}

// CutTwoRestartEmpty forgets by a crash: the node comes back without its data.
func CutTwoRestartEmpty() lb.Fault {
	return CutTwoThen{"cut-two+restart-empty", "two nodes are cut from a client while it takes the lock, then one of its three crashes and comes back empty",
		func(ctx context.Context, _ lb.Stage, s lb.Server) (func() (string, error), error) {
			start, down := lb.Now(), time.Duration(0)
			if err := s.Signal(syscall.SIGKILL); err != nil {
				return nil, err
			}
			// Beside the run: a node may have to stay down for longer than the window.
			back := make(chan error, 1)
			go func() {
				err := s.Restart(context.WithoutCancel(ctx), true)
				down = lb.Now().Sub(start)
				back <- err
			}()
			return func() (string, error) {
				err := <-back
				return fmt.Sprintf("%s crashed and was back, empty, after %s", s.Name(), seconds(down)), err
			}, nil
		}}
}

// CutTwoServerClock forgets by time: the node's clock jumps over the lease's end.
func CutTwoServerClock() lb.Fault {
	return clockPair{CutTwoThen{"cut-two+server-clock", "two nodes are cut from a client while it takes the lock, then the clock of one of its three jumps",
		func(ctx context.Context, on lb.Stage, s lb.Server) (func() (string, error), error) {
			if err := s.SetClock(10*on.TTL(), 0); err != nil {
				return nil, err
			}
			ahead, err := s.Clock(ctx)
			return func() (string, error) {
				return fmt.Sprintf("the clock of %s jumped %s ahead", s.Name(), seconds(ahead)), s.SetClock(0, 0)
			}, err
		}}}
}

// clockPair is a pair that needs servers with clocks that can be moved.
type clockPair struct{ CutTwoThen }

func (clockPair) MovesServerClocks() {}
func (f clockPair) Available(s lb.Setting) error {
	return errors.Join(f.CutTwoThen.Available(s), s.Clock)
}

func (f CutTwoThen) Name() string { return f.name }
func (f CutTwoThen) Doc() string  { return f.doc }
func (f CutTwoThen) Available(s lb.Setting) error {
	if s.Servers != 5 || s.Leader {
		return fmt.Errorf("%s does not run on five independent servers", s.Algorithm.Name)
	}
	return errors.Join(needsNetwork(s), knows(s, whileHolding))
}

// MinTTL leaves time, within the lease, for a restart and for the clients to notice
// it: their driver tries a server that refused them once a second.
func (f CutTwoThen) MinTTL() time.Duration { return 4 * time.Second }

func (f CutTwoThen) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	workers, servers := on.Workers(), on.Servers()
	w := workers[on.Rand().IntN(len(workers))]
	cut, err := cutOff(on, []lb.Process{w}, processes(servers[3:]))
	if err != nil {
		return nil, err
	}
	// Votes of the two that this client got before, and can't give back now, must have
	// run out, or the others would find no majority.
	if err := (lb.HostClock{}).Sleep(ctx, on.TTL()); err != nil {
		return nil, errors.Join(err, cut.heal())
	}
	c, err := w.Catch(ctx, whileHolding, lb.Hold)
	if err != nil {
		return nil, errors.Join(err, cut.heal())
	}
	packets, err := cut.packets()
	err = errors.Join(err, cut.heal())
	heal, err2 := f.forget(ctx, on, servers[2])
	if err := errors.Join(err, err2); err != nil {
		_, err3 := c.LetGo(ctx)
		return nil, errors.Join(err, err3)
	}
	return func(ctx context.Context) (lb.Effect, error) {
		_, err := c.LetGo(ctx)
		told, err2 := heal()
		err = errors.Join(err, err2)
		return lb.Effect{
			Bit: packets > 0,
			Measured: fmt.Sprintf("%d packets between %s and two nodes were dropped until %s held the lock; then %s",
				packets, w.Name(), c.Client, told),
		}, err
	}, nil
}

// Lasts implements [lb.LastingFault]: the others need a moment, not the whole lease.
func (f CutTwoThen) Lasts(ttl time.Duration) time.Duration { return ttl * 3 / 4 }

// KillTwo kills two of five servers for good: as many as a quorum of five may lose.
type KillTwo struct{}

func (KillTwo) Name() string { return "kill-two" }
func (KillTwo) Doc() string {
	return "SIGKILL two of five servers, the leader among them; they come back when healed"
}
func (KillTwo) Available(s lb.Setting) error {
	if s.Servers != 5 {
		return fmt.Errorf("%s does not run on five servers here", s.Algorithm.Name)
	}
	return nil
}
func (KillTwo) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	if err := on.Passed(ctx, whileBeginning, nil); err != nil {
		return nil, fmt.Errorf("faults: nobody was granted the lock: %w", err)
	}
	few, _ := halves(ctx, on)
	var killed []lb.Server
	for _, s := range on.Servers() {
		for _, p := range few[:2] {
			if p.Name() == s.Name() {
				killed = append(killed, s)
			}
		}
	}
	for _, s := range killed {
		if err := s.Signal(syscall.SIGKILL); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (e lb.Effect, err error) {
		for _, s := range killed {
			err = errors.Join(err, s.Restart(ctx, false))
		}
		return lb.Effect{Bit: err == nil, Measured: fmt.Sprintf("%s were killed and came back", names(processes(killed)))}, err
	}, nil
}
