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
	return errors.Join(needsServers(s), needsNetwork(s), knows(s, whileHolding))
}

func (CutHolder) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	c, err := on.Catch(ctx, whileHolding, lb.Hold)
	if err != nil {
		return nil, err
	}
	cut, err := cutOff(on, []lb.Process{c.Worker}, service(on))
	if err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, err2)
	}
	return func(ctx context.Context) (lb.Effect, error) {
		// The holder's work ends while it is still cut off; so does its release.
		whileOthersWork(ctx, on, c.Worker)
		idle, err := c.LetGo(ctx)
		packets, err2 := cut.patiently(ctx)
		err = errors.Join(err, err2, cut.heal())
		return lb.Effect{
			Bit: packets > 0 && idle > on.TTL(),
			Measured: fmt.Sprintf("%d packets between %s and the lock service dropped while its holder worked for %s",
				packets, c.Worker.Name(), seconds(idle)),
		}, err
	}, nil
}

// service is everything that the lock service consists of.
func service(on lb.Stage) []lb.Process {
	return processes(append(on.Servers(), on.Sentinels()...))
}

// patiently counts the packets, and gives a client that has not tried to say
// anything during the cut a moment to do so.
func (c *cut) patiently(ctx context.Context) (packets uint64, err error) {
	const patience = 500 * time.Millisecond
	for start := lb.Now(); ; {
		packets, err = c.packets()
		if err != nil || packets > 0 || lb.Now().Sub(start) > patience {
			return packets, err
		}
		if err := (lb.HostClock{}).Sleep(ctx, 10*time.Millisecond); err != nil {
			return packets, err
		}
	}
}
