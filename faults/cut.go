package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// CutHolder cuts the host of a holder off the lock service, but not off the
// protected store, while the holder's work takes longer than its lease: it can
// still write, and it can neither renew nor ask.
type CutHolder struct{}

func (CutHolder) Name() string { return "cut-holder" }
func (CutHolder) Doc() string {
	return "drop all packets between a working holder's host and the lock service, until after its lease"
}

func (CutHolder) Available(s lb.Setting) error {
	if s.Servers == 0 {
		return fmt.Errorf("%s has no lock service to be cut off", s.Algorithm.Name)
	}
	if !s.Network {
		return fmt.Errorf("the %s lab can't drop packets; use --lab local", s.Lab)
	}
	return knows(s, whileHolding)
}

func (CutHolder) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	c, err := on.Catch(ctx, whileHolding, lb.Hold)
	if err != nil {
		return nil, err
	}
	holder, servers := []lb.Process{c.Worker}, on.Servers()
	out, err := on.Network().Drop(holder, servers)
	if err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, err2)
	}
	in, err := on.Network().Drop(servers, holder)
	if err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, out.Remove(), err2)
	}
	return func(ctx context.Context) (lb.Effect, error) {
		// The holder's work ends while it is still cut off; so does its release.
		whileOthersWork(ctx, on, c.Worker)
		idle, err := c.LetGo(ctx)
		packets, err2 := dropped(ctx, out, in)
		err = errors.Join(err, err2, in.Remove(), out.Remove())
		return lb.Effect{
			Bit: packets > 0 && idle > on.TTL(),
			Measured: fmt.Sprintf("%d packets between %s and the lock service dropped while its holder worked for %s",
				packets, c.Worker.Name(), seconds(idle)),
		}, err
	}, nil
}

// dropped counts the packets, and gives a client that has not tried to say
// anything during the cut a moment to do so.
func dropped(ctx context.Context, rules ...lb.Rule) (sum uint64, err error) {
	const patience = 500 * time.Millisecond
	for start := lb.Now(); ; {
		sum = 0
		for _, r := range rules {
			n, err := r.Packets()
			if err != nil {
				return 0, err
			}
			sum += n
		}
		if sum > 0 || lb.Now().Sub(start) > patience {
			return sum, nil
		}
		if err := (lb.HostClock{}).Sleep(ctx, 10*time.Millisecond); err != nil {
			return sum, err
		}
	}
}
