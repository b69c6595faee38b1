package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// LostReply lets a client's request reach the lock service and loses the answer:
// the server commits, and the client never hears of it.
type LostReply struct{}

func (LostReply) Name() string { return "lost-reply" }
func (LostReply) Doc() string {
	return "drop the packets from the lock service to the host of a client that is about to ask for the lock"
}
func (LostReply) Available(s lb.Setting) error { return canLoseReplies(s) }
func (LostReply) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return loseReplies(ctx, on)
}

// SlowReply is [LostReply] for less than a lease: TCP sends the answer again, and
// the client hears late of what it was granted.
type SlowReply struct{}

func (SlowReply) Name() string { return "slow-reply" }
func (SlowReply) Doc() string {
	return "hold back the answer to a client that asks for the lock, for most of a lease"
}
func (SlowReply) Available(s lb.Setting) error { return canLoseReplies(s) }
func (SlowReply) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return loseReplies(ctx, on)
}

// Lasts implements [lb.LastingFault].
func (SlowReply) Lasts(ttl time.Duration) time.Duration { return ttl * 7 / 10 }

func canLoseReplies(s lb.Setting) error {
	return errors.Join(asks(s), needsServers(s), needsNetwork(s))
}

// asks says whether a client ever asks a server for the lock.
func asks(s lb.Setting) error {
	if len(s.Algorithm.Steps) == 0 {
		return fmt.Errorf("%s sends no requests", s.Algorithm.Name)
	}
	return nil
}

// loseReplies holds a client that is about to send its first request, drops what
// comes back to its host, and lets it go.
func loseReplies(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	c, err := on.Catch(ctx, on.Setting().Algorithm.Steps[0], lb.Hold)
	if err != nil {
		return nil, err
	}
	lost, err := dropped(on, service(on), []lb.Process{c.Worker})
	_, err2 := c.LetGo(ctx)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lb.Effect, error) {
		packets, err := lost.patiently(ctx)
		return lb.Effect{
			Bit:      packets > 0,
			Measured: fmt.Sprintf("%d packets from the lock service to %s were dropped", packets, c.Worker.Name()),
		}, errors.Join(err, lost.heal())
	}, nil
}
