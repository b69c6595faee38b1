package lockbench

import (
	"context"
	"math/rand/v2"
	"syscall"
	"time"
)

// Fault is one thing that goes wrong in a run.
type Fault interface {
	// Name is the column's name: "pause-holder".
	Name() string
	// Doc says in one line what happens.
	Doc() string
	// Available says why the fault can't strike in this setting, or nil.
	Available(Setting) error
	// Inject makes it happen and returns how to heal it. It may first wait for
	// a moment of the run. The runner owns durations and always heals; a nil Heal
	// says that nothing happened that could be.
	Inject(ctx context.Context, on Stage) (Heal, error)
}

// Heal ends a fault and measures what it did.
type Heal func(ctx context.Context) (Effect, error)

// Effect is the measured proof that a fault bit. A run whose fault did not bite
// proves nothing.
type Effect struct {
	Bit bool `json:"bit"`
	// Measured is the measurement in words, with units.
	Measured string `json:"measured"`
}

// Setting is where a fault would strike.
type Setting struct {
	// Lab is the lab's name, and Network whether it can drop packets.
	Lab     string
	Network bool
	// Servers is the number of servers of the lock service.
	Servers   int
	Algorithm Info
	Workload  WorkloadInfo
}

// Stage is a run in progress, as far as faults may touch it.
type Stage interface {
	TTL() time.Duration
	Rand() *rand.Rand
	// Servers are the processes of the lock service.
	Servers() []Process
	// Catch waits until a client of one worker, chosen by the run's seed, passes
	// the step, and stops it there in the given way.
	Catch(ctx context.Context, step string, how Grip) (Caught, error)
	// Passed waits until a client of another worker than except passes the step:
	// a trigger that stops nobody. It gives up with ctx.
	Passed(ctx context.Context, step string, except Process) error
	// Network is nil where the lab can't drop packets.
	Network() Network
}

// Grip is how a client is stopped at a step.
type Grip string

// The grips. Freeze and Kill are signals that the worker sends to itself, so
// that not one more instruction of the caught client runs.
const (
	Freeze Grip = "freeze" // SIGSTOP of the whole worker process
	Kill   Grip = "kill"   // SIGKILL of the whole worker process
	Hold   Grip = "hold"   // this client alone stays where it is, as if its work took long
)

// Caught is a client stopped at a step.
type Caught struct {
	Worker Process
	Client string
	ID     string
	// LetGo ends the grip and reports how long the worker or client was stopped,
	// as the worker itself measured it. For Kill it reports 0.
	LetGo func(ctx context.Context) (time.Duration, error)
}

// Process is one process of the run, on a host.
type Process interface {
	Name() string
	// Addr is the address of its host.
	Addr() string
	Signal(syscall.Signal) error
}

// Network drops packets between hosts.
type Network interface {
	// Drop discards every packet from one of the first to one of the second.
	Drop(from, to []Process) (Rule, error)
}

// Rule is a drop in force.
type Rule interface {
	// Packets that the rule has dropped so far.
	Packets() (uint64, error)
	Remove() error
}
