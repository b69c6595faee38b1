package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// NetworkActs are what happens to packets and connections between the hosts. Those that drop packets go
// on until they are ended, or the fault is healed.
type NetworkActs interface {
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
	// Unmet is how many connections clients of the host wanted to begin, of which no server had answered a word by then.
	Unmet func() int
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
