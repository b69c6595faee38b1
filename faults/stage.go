package faults

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/history"
)

// Strike is one strike of a fault on the stage.
type Strike struct {
	Stage
	Fault
}

// Step is the step at which it strikes a client.
func (s Strike) Step() string { return s.Fault.Step(s.Setting()) }

// Stage is a run in progress, as far as faults may touch it. Every act on it records
// when it begins and when it has ended, and what it changed is undone when the fault is
// healed, if the fault has not done so itself: first the victims are let go, then the
// last act is undone first.
type Stage interface {
	Setting() Setting
	TTL() time.Duration
	Rand() *rand.Rand

	// Servers are the processes of the lock service, Sentinels those that watch them,
	// Workers the processes that the clients live in.
	Servers() []Node
	Sentinels() []Node
	Workers() []Node
	// Leader is the server that leads the others now, as they themselves say; except,
	// if not nil, is not asked.
	Leader(ctx context.Context, except Node) (Node, error)
	// Passed waits until a client passes the step: one of the worker by, where it is
	// not nil, and never one of except. It stops nobody.
	Passed(ctx context.Context, step string, by, except Node) error
	// Sleep lets time pass.
	Sleep(ctx context.Context, d time.Duration) error

	// Stop waits until a client passes the step, of the given worker or, if it is nil,
	// of one that the seed chooses, and stops it there.
	Stop(ctx context.Context, w Node, step string, how Stop) (*Victim, error)
	// HoldOthers delays every client but the victim at the step, and returns when all
	// are there. What it returns lets them go on.
	HoldOthers(ctx context.Context, step string, but *Victim) (letGo func(context.Context) error, err error)
	// Kill ends a server, which comes back with its disk.
	Kill(ctx context.Context, server Node) error
	// Restart starts a server again that was killed, with what its disk holds or, if
	// empty, with nothing. It returns at once; back waits until the server answers, and
	// says how long it was away.
	Restart(ctx context.Context, server Node, empty bool) (back func(context.Context) (time.Duration, error))
	// Freeze stops a server where it is.
	Freeze(ctx context.Context, server Node) error
	// Promote makes a server the leader and has it reached where the old one was, for
	// lock services that do not elect one by themselves; for others it does nothing.
	Promote(ctx context.Context, server Node) error
	// Drop discards every packet from one of the first to one of the second.
	Drop(ctx context.Context, from, to []Node) (*Drops, error)
	// MoveClock sets the clock of a server, or of a worker's host, to be ahead of the
	// machine's, and lets it run fast by rate (0.1 is a tenth) from now on. A server has
	// a wall clock only; the monotonic clock of a worker's host drifts with it.
	MoveClock(ctx context.Context, of Node, ahead time.Duration, rate float64) (*Moved, error)
}

// Node is a process of the run on its host.
type Node interface{ Name() string }

// Stop is how a client is stopped at a step.
type Stop string

// The ways to stop. Freeze and Kill are signals that the worker sends to itself, so
// that not one more instruction of the client runs.
const (
	Freeze Stop = history.ActFreeze // SIGSTOP of the whole worker process
	Kill   Stop = "kill"            // SIGKILL of the whole worker process
	Delay  Stop = "delay"           // this client alone stays where it is, as if its work took long
	// FreezeAll is Freeze when all clients of the process stand at the step: until then
	// those that are there stay there, and nobody else's work is frozen with the victim's.
	FreezeAll Stop = "freeze all"
)

// Victim is a client stopped at a step.
type Victim struct {
	Worker     Node
	Client, ID string
	// LetGo ends it.
	LetGo func(context.Context) error
	// Stopped is how long it was stopped, as the worker itself measured it.
	Stopped func() time.Duration
}

// Drops are packets being dropped.
type Drops struct {
	// Packets so far.
	Packets func() uint64
	// End removes the rule.
	End func(context.Context) error
}

// Moved is a clock that was moved. Ahead is how far it was ahead of the machine's, as
// its host told itself before it was put right.
type Moved struct{ Ahead func() time.Duration }
