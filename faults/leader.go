package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
)

// electionBound is how long a lock service may take to find a new leader.
const electionBound = 10 * time.Second

// needsLeader says why there is no leader to strike.
func needsLeader(s lb.Setting) error {
	if !s.Leader {
		return fmt.Errorf("%s runs on %d servers of which none leads the others", s.Algorithm.Name, s.Servers)
	}
	return nil
}

// needsElection says why nobody would follow the leader.
func needsElection(s lb.Setting) error {
	if err := needsLeader(s); err != nil {
		return err
	}
	if !s.Elects {
		return fmt.Errorf("the servers of %s elect no leader by themselves; failover promotes one", s.Algorithm.Name)
	}
	return nil
}

// succession strikes the leader and watches who comes after it.
type succession struct {
	on          lb.Stage
	old         lb.Server
	struck      lb.Instant
	new         lb.Server // nil: nobody
	afterStrike time.Duration
}

// strikeLeader finds the leader while a client is at work, strikes it, and waits
// for its successor.
func strikeLeader(ctx context.Context, on lb.Stage, strike func(leader lb.Server) error) (*succession, error) {
	leader, err := on.Leader(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := on.Passed(ctx, whileBeginning, nil); err != nil {
		return nil, fmt.Errorf("faults: nobody was granted the lock: %w", err)
	}
	s := &succession{on: on, old: leader, struck: lb.Now()}
	if err := strike(leader); err != nil {
		return nil, err
	}
	s.await(ctx)
	return s, nil
}

// await polls the other servers. That nobody follows is a result, not an error.
func (s *succession) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), electionBound)
	defer cancel()
	for ctx.Err() == nil {
		if next, err := s.on.Leader(ctx, s.old); err == nil {
			s.new, s.afterStrike = next, lb.Now().Sub(s.struck)
			return
		}
		_ = (lb.HostClock{}).Sleep(ctx, 20*time.Millisecond)
	}
}

// effect tells what happened; it bites when somebody else leads.
func (s *succession) effect(what string) lb.Effect {
	if s.new == nil {
		return lb.Effect{Measured: fmt.Sprintf("%s was %s, and nobody followed within %v", s.old.Name(), what, electionBound)}
	}
	return lb.Effect{Bit: true, Measured: fmt.Sprintf("%s was %s; %s led after %s", s.old.Name(), what, s.new.Name(), seconds(s.afterStrike))}
}

// KillLeader kills the leader of the lock service and starts it again after the
// others have elected another.
type KillLeader struct{}

func (KillLeader) Name() string { return "kill-leader" }
func (KillLeader) Doc() string {
	return "SIGKILL the leader of the lock service; it comes back when the fault is healed"
}
func (KillLeader) Available(s lb.Setting) error { return needsElection(s) }
func (KillLeader) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	s, err := strikeLeader(ctx, on, func(l lb.Server) error { return l.Signal(syscall.SIGKILL) })
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lb.Effect, error) {
		return s.effect("killed"), s.old.Restart(ctx, false)
	}, nil
}

// PauseLeader freezes the leader until the others have elected another; it wakes
// believing that it still leads.
type PauseLeader struct{}

func (PauseLeader) Name() string                 { return "pause-leader" }
func (PauseLeader) Doc() string                  { return "SIGSTOP the leader of the lock service, until another leads" }
func (PauseLeader) Available(s lb.Setting) error { return needsElection(s) }
func (PauseLeader) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	s, err := strikeLeader(ctx, on, func(l lb.Server) error { return l.Signal(syscall.SIGSTOP) })
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lb.Effect, error) {
		return s.effect("frozen"), s.old.Signal(syscall.SIGCONT)
	}, nil
}

// CutLeader cuts the leader off from its peers, but not from its clients: two
// leaders may serve at once.
type CutLeader struct{}

func (CutLeader) Name() string { return "cut-leader" }
func (CutLeader) Doc() string {
	return "drop all packets between the leader and its peers; its clients keep it (split brain)"
}
func (CutLeader) Available(s lb.Setting) error {
	return errors.Join(needsElection(s), needsNetwork(s))
}
func (CutLeader) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	var cut *cut
	s, err := strikeLeader(ctx, on, func(l lb.Server) (err error) {
		cut, err = cutOff(on, []lb.Process{l}, peers(on, l))
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lb.Effect, error) {
		packets, err := cut.packets()
		e := s.effect(fmt.Sprintf("cut off from its peers (%d packets dropped)", packets))
		return e, errors.Join(err, cut.heal())
	}, nil
}

// peers are all servers and sentinels but this one.
func peers(on lb.Stage, one lb.Server) (others []lb.Process) {
	for _, p := range append(on.Servers(), on.Sentinels()...) {
		if p.Name() != one.Name() {
			others = append(others, p)
		}
	}
	return others
}
