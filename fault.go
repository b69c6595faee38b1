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

// LastingFault is a fault that says itself how long it lasts; others last two and
// a half TTL.
type LastingFault interface {
	Fault
	Lasts(ttl time.Duration) time.Duration
}

// PatientFault is a fault that needs leases of at least a certain length, because
// what happens in it takes its time. A plan without a TTL of its own follows it.
type PatientFault interface {
	Fault
	MinTTL() time.Duration
}

// RepeatedFault is a fault that strikes again and again until the end of the run.
type RepeatedFault interface {
	Fault
	Repeats()
}

// ServerClockFault is a fault that moves the clocks of servers: they are started
// with clocks that can be moved.
type ServerClockFault interface {
	Fault
	MovesServerClocks()
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
	// Servers is the number of servers of the lock service, and Leader whether one
	// of them leads the others.
	Servers int
	Leader  bool
	// Elects: they find a new leader by themselves.
	Elects bool
	// Quorum: they agree by majority before they answer.
	Quorum bool
	// Clock says why the servers' clocks can't be moved, or nil.
	Clock     error
	Algorithm Info
	Workload  WorkloadInfo
}

// Stage is a run in progress, as far as faults may touch it.
type Stage interface {
	Setting() Setting
	TTL() time.Duration
	Rand() *rand.Rand
	// Servers are the processes of the lock service.
	Servers() []Server
	// Sentinels are those that watch the servers; most topologies have none.
	Sentinels() []Server
	// Leader is the server that leads the others now, as they themselves say; except,
	// if not nil, is not asked.
	Leader(ctx context.Context, except Server) (Server, error)
	// Promote makes s the leader and has it reached where the old one was, for lock
	// services that do not elect one by themselves; for others it does nothing.
	Promote(ctx context.Context, s Server) error
	// Workers are the processes that the clients live in.
	Workers() []Worker
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
	Worker Worker
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

// Server is one process of the lock service.
type Server interface {
	Process
	// Restart starts a server again that was killed, with what its disk holds or,
	// if empty, with nothing, and returns when it answers.
	Restart(ctx context.Context, empty bool) error
	// SetClock sets the server's wall clock to be ahead of the machine's by ahead,
	// and lets it run fast by rate (0.1 is a tenth) from now on.
	SetClock(ahead time.Duration, rate float64) error
	// Clock is how far the clock is ahead, as the server itself tells.
	Clock(ctx context.Context) (time.Duration, error)
}

// Worker is a process of clients.
type Worker interface {
	Process
	// Catch and Passed are [Stage]'s for this worker.
	Catch(ctx context.Context, step string, how Grip) (Caught, error)
	Passed(ctx context.Context, step string) error
	// SetClock lets the clock of the worker's host jump by step and run fast by rate
	// from now on. It returns how far its wall clock is ahead of the machine's.
	SetClock(ctx context.Context, step time.Duration, rate float64) (time.Duration, error)
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
