package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
)

// ClientActs are what a fault may do to clients, each of which it meets at a step.
type ClientActs interface {
	// Passed waits until a client passes the step: one of the worker by, where it is
	// not nil, and never one of except. It stops nobody.
	Passed(ctx context.Context, step string, by, except Node) error
	// Stop waits until a client passes the step, of the given worker or, if it is nil,
	// of one that the seed chooses, and stops it there.
	Stop(ctx context.Context, w Node, step string, how Stop) (*Victim, error)
	// HoldOthers delays every client but the victim at the step, and returns when all
	// are there. What it returns lets them go on.
	HoldOthers(ctx context.Context, step string, but *Victim) (letGo func(context.Context) error, err error)
	// HoldAll delays every client that comes to the step from now on, and returns at once. What it
	// returns lets them go on.
	HoldAll(ctx context.Context, step string) (letGo func(context.Context) error, err error)
	// HoldBeside delays every other client of the victim's host at whatever step it
	// comes to next, also in the background: nothing but what the victim asks for leaves
	// the host. It returns at once. What it returns lets them go on.
	HoldBeside(ctx context.Context, but *Victim) (letGo func(context.Context) error, err error)
}

// RepeatActs have a client, or its whole process, do once more what it has done.
type RepeatActs interface {
	// ReleaseAgain lets a victim that was stopped at [workloads.StepReleased] go, and has it
	// first give back once more what it has given back; answer is what it was told.
	ReleaseAgain(ctx context.Context, v *Victim) (answer string, err error)
	// StartAgain starts a process beside a worker's, on the same host and with the same
	// identity for the lock: the names and the random source of its clients. It returns when
	// the first of them passes the step. The process stays.
	StartAgain(ctx context.Context, w Node, step string) (again Node, err error)
}

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
	Worker           Node
	Client, ID, Lock string
	// LetGo ends it.
	LetGo func(context.Context) error
	// Stopped is how long it was stopped, as the worker itself measured it.
	Stopped func() time.Duration
}
