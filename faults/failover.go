package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Failover kills the leader while a client holds the lock and another server takes
// over, by itself where the servers do that, promoted by the bench where not.
type Failover struct{}

func (Failover) Name() string { return "failover" }
func (Failover) Doc() string {
	return "SIGKILL the leader while a client holds the lock; another takes over"
}
func (Failover) Available(s lb.Setting) error {
	return errors.Join(needsLeader(s), knows(s, whileHolding))
}
func (Failover) MinTTL() time.Duration { return promotionTTL }
func (Failover) Lasts(ttl time.Duration) time.Duration {
	return ttl * 5 / 4
}
func (Failover) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	leader, err := on.Leader(ctx, nil)
	if err != nil {
		return nil, err
	}
	return takeOver(ctx, on, leader, nil)
}

// promotionTTL is longer than a promotion takes: a shorter lease is over before
// anybody else can be granted the lock.
const promotionTTL = 4 * time.Second

// FailoverUnreplicated is [Failover] after the leader's link to the others was cut:
// the grant is surely lost.
type FailoverUnreplicated struct{}

func (FailoverUnreplicated) Name() string { return "failover-unreplicated" }
func (FailoverUnreplicated) Doc() string {
	return "cut the leader's link to the other servers, wait for a grant, SIGKILL the leader; another takes over"
}
func (FailoverUnreplicated) Available(s lb.Setting) error {
	if s.Quorum {
		return fmt.Errorf("the servers of %s grant nothing that a majority does not know", s.Algorithm.Name)
	}
	return errors.Join(needsLeader(s), needsNetwork(s), knows(s, whileHolding))
}
func (FailoverUnreplicated) MinTTL() time.Duration { return promotionTTL }
func (FailoverUnreplicated) Lasts(ttl time.Duration) time.Duration {
	return ttl * 5 / 4
}
func (FailoverUnreplicated) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	leader, err := on.Leader(ctx, nil)
	if err != nil {
		return nil, err
	}
	// The sentinels still see the leader, or they would replace it too early.
	var replicas []lb.Process
	for _, s := range on.Servers() {
		if s.Name() != leader.Name() {
			replicas = append(replicas, s)
		}
	}
	link, err := cutOff(on, []lb.Process{leader}, replicas)
	if err != nil {
		return nil, err
	}
	// What the others know of the lock at this moment, a grant whose release they
	// will never hear of, must have run out, or it would keep the lock taken there.
	err = (lb.HostClock{}).Sleep(ctx, on.TTL())
	var heal lb.Heal
	if err == nil {
		heal, err = takeOver(ctx, on, leader, link)
	}
	if err != nil {
		return nil, errors.Join(err, link.heal())
	}
	return heal, nil
}

// takeOver kills the leader under a holder and lets the holder go after another
// leads and has granted the lock to somebody, or at the heal.
func takeOver(ctx context.Context, on lb.Stage, leader lb.Server, link *cut) (lb.Heal, error) {
	c, err := on.Catch(ctx, whileHolding, lb.Hold)
	if err != nil {
		return nil, err
	}
	s := &succession{on: on, old: leader, struck: lb.Now()}
	if err := leader.Signal(syscall.SIGKILL); err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, err2)
	}
	if err := promoteNext(ctx, on, leader); err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, err2)
	}
	s.await(ctx)
	return func(ctx context.Context) (lb.Effect, error) {
		_, err := c.LetGo(ctx)
		e := s.effect(fmt.Sprintf("killed while %s held the lock", c.Client))
		if link != nil {
			packets, err2 := link.packets()
			e.Measured += fmt.Sprintf("; %d packets between it and the others had been dropped", packets)
			err = errors.Join(err, err2, link.heal())
		}
		return e, errors.Join(err, leader.Restart(ctx, false))
	}, nil
}

// promoteNext promotes the first of the other servers, where that is not their own
// affair.
func promoteNext(ctx context.Context, on lb.Stage, old lb.Server) error {
	for _, s := range on.Servers() {
		if s.Name() != old.Name() {
			return on.Promote(ctx, s)
		}
	}
	return nil
}
