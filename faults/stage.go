package faults

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/lab"
)

// Strike is one strike of a fault on the stage.
type Strike struct {
	Stage
	Fault
}

// Step is the step at which it strikes a client.
func (s Strike) Step() string { return s.Fault.Step(s.Setting()) }

// standing says where a client was that was stopped: whether it held the lock there is for the
// history to say.
func (s Strike) standing(v *Victim) string { return v.Client + " stood at " + s.Step() }

// Stage is a run in progress, as far as faults may touch it. Every act on it records
// when it begins and when it has ended, and what it changed is undone when the fault is
// healed, if the fault has not done so itself: first the victims are let go, then the
// last act is undone first.
type Stage interface {
	Setting() Setting
	TTL() time.Duration
	Rand() *rand.Rand

	// Servers are the processes of the lock service, Sentinels those that watch them,
	// Workers the processes that the clients live in, one of each host.
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
	// HoldAll delays every client that comes to the step from now on, and returns at once. What it
	// returns lets them go on.
	HoldAll(ctx context.Context, step string) (letGo func(context.Context) error, err error)
	// HoldBeside delays every other client of the victim's host at whatever step it
	// comes to next, also in the background: nothing but what the victim asks for leaves
	// the host. It returns at once. What it returns lets them go on.
	HoldBeside(ctx context.Context, but *Victim) (letGo func(context.Context) error, err error)
	// ReleaseAgain lets a victim that was stopped at [workloads.StepReleased] go, and has it
	// first give back once more what it has given back; answer is what it was told.
	ReleaseAgain(ctx context.Context, v *Victim) (answer string, err error)
	// StartAgain starts a process beside a worker's, on the same host and with the same
	// identity for the lock: the names and the random source of its clients. It returns when
	// the first of them passes the step. The process stays.
	StartAgain(ctx context.Context, w Node, step string) (again Node, err error)
	// Clients are those of all workers, as they are now.
	Clients(ctx context.Context) ([]Client, error)
	// Expire ends the sessions of clients at the lock service, as an operator would, and
	// says how many it still knew. They are not given back.
	Expire(ctx context.Context, of ...Client) (ended int, err error)
	// Kill ends a server, which comes back with its disk.
	Kill(ctx context.Context, server Node) error
	// ShutDown ends a server as its supervisor does, which lets it finish; it comes back
	// with its disk.
	ShutDown(ctx context.Context, server Node) error
	// Restart starts a server again that was killed or shut down, with what its disk holds or, if
	// empty, with nothing. It returns at once; back waits until the server answers, and
	// says how long it was away.
	Restart(ctx context.Context, server Node, empty bool) (back func(context.Context) (time.Duration, error))
	// Replace has the others take a new member in the place of a server that was killed, for
	// good; [Stage.Restart] with an empty disk starts it.
	Replace(ctx context.Context, server Node) error
	// Freeze stops a server where it is.
	Freeze(ctx context.Context, server Node) error
	// Throttle lets a server run for that share of the time only, above 0 and below 1, ten
	// times a second.
	Throttle(ctx context.Context, server Node, share float64) (*Throttled, error)
	// Promote makes a server the leader and has it reached where the old one was, for
	// lock services that do not elect one by themselves; for others it does nothing.
	Promote(ctx context.Context, server Node) error
	// Overhear hears what a worker's host and the lock service say to each other from now on, whether it
	// arrives or not. The fault must be one that [Fault.Hears].
	Overhear(ctx context.Context, worker Node) (*Ear, error)
	// Drop discards every packet from one of the first to one of the second.
	Drop(ctx context.Context, from, to []Node) (*Drops, error)
	// Mute discards what is said from one of the first to one of the second, and lets connections begin
	// and be reset.
	Mute(ctx context.Context, from, to []Node) (*Drops, error)
	// Lose discards by chance a share of the packets from one of the first to one of the
	// second, above 0 and below 1.
	Lose(ctx context.Context, from, to []Node, share float64) (*Drops, error)
	// Flap discards every packet between the two sides, both ways, for the time down, lets
	// all pass for the time up, and so on.
	Flap(ctx context.Context, a, b []Node, down, up time.Duration) (*Flaps, error)
	// Disconnect ends every connection by TCP that servers have with workers, at both ends.
	// Everybody can connect again at once.
	Disconnect(ctx context.Context, servers, workers []Node) (*Disconnected, error)
	// MoveClock sets the clock of a server, or of a worker's host, to be ahead of the
	// machine's, and lets it run fast by rate (0.1 is a tenth) from now on. A server has
	// a wall clock only; the monotonic clock of a worker's host drifts with it.
	MoveClock(ctx context.Context, of Node, ahead time.Duration, rate float64) (*Moved, error)
	// FillDisk leaves no room on a server's disk. A server that ends itself because of that
	// is started again when it is healed.
	FillDisk(ctx context.Context, server Node) (*Filled, error)
	// StallDisk has a server wait for its disk. Its process runs.
	StallDisk(ctx context.Context, server Node) (*Stalled, error)
	// Operate gives a server, or a sentinel, a command that people give. of is the worker
	// whose clients it is about, nil for a command that is about none.
	Operate(ctx context.Context, server Node, what lab.Operation, of Node) (*Operated, error)
	// Command strikes servers that are not lockbench's, by a command of the user's.
	Command(ctx context.Context, order lab.Order) (*Commanded, error)
}

// Commanded is a command of the user's that was run: what it said last, and, when it is taken
// back, for how long a server did not answer.
type Commanded struct {
	Said   string
	Outage func() lab.Outage
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
	Worker           Node
	Client, ID, Lock string
	// LetGo ends it.
	LetGo func(context.Context) error
	// Stopped is how long it was stopped, as the worker itself measured it.
	Stopped func() time.Duration
}

// Client is one of a worker's.
type Client struct {
	Worker Node
	Name   string
	// Asks is the acquisition that it waits for, "" if it waits for none.
	Asks string
	// Sessions are those that it has or had at the lock service.
	Sessions []string
}

// Drops are packets being dropped.
type Drops struct {
	// Packets so far, while they are being dropped.
	Packets func() uint64
	// Lasted is how long they have been dropped.
	Lasted func() time.Duration
	// End removes the rule.
	End func(context.Context) error
}

// Ear is what was heard since.
type Ear struct {
	// Open is how many requests had not been answered when it began.
	Open int
	// Fell is how much of what clients of the host had said, and how much of what the lock service had,
	// did not arrive by the time that the fault's victims were let go. What was sent again counts once.
	Fell func() (clients, service int)
	// Again is how much had to be sent again by then, by either side; each part of it counts once.
	Again func() int
	// Answers are those to requests that were sent since.
	Answers func() []wire.Message
	// Missed is how many packets of the run the bench was too busy to hear.
	Missed func() int
}

// Flaps are a link that goes down and up.
type Flaps struct {
	// Packets that were dropped, how often the link was down and for how long in all, by the time it was over.
	Packets func() uint64
	Times   func() int
	Down    func() time.Duration
}

// Disconnected are connections that were ended: how many, and how many there were instead
// when the fault was healed.
type Disconnected struct {
	Ended int
	Again func() int
}

// Throttled is a server that ran for a part of the time: which part, and of how long, as
// those measured who stopped it.
type Throttled struct {
	Share func() float64
	For   func() time.Duration
}

// Moved is a clock that was moved. Ahead is how far it was ahead of the machine's, as
// its host told itself before it was put right.
type Moved struct{ Ahead func() time.Duration }

// Filled is a disk without room, as it was when that was over.
type Filled struct {
	// Complaints are the lines in which the server's log tells of it.
	Complaints int
	// Ended: the server has ended itself.
	Ended bool
}

// Stalled is a disk that stalls: how many writes waited for it, and for how long at most, by
// the time it was over.
type Stalled struct {
	Calls func() int
	For   func() time.Duration
}

// Operated is a command that was given. Effect is what it did, as the server counted it by
// the time it was taken back.
type Operated struct{ Effect func() lab.Effect }
