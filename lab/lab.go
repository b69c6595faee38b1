// Package lab provides the hosts that a run happens on, and the topologies of
// lock services that are put on them.
//
// A lab knows how to start programs on hosts of their own; what the programs
// are is said by [Topology] and [Program], as data. It knows nothing of locks,
// faults or histories.
package lab

import (
	"context"
	"io"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// Lab is a place where hosts can be had.
type Lab interface {
	// Host makes a host, in a lab of containers from an image; "" is lockbench's own. Its
	// address is known before anything runs there.
	Host(ctx context.Context, name, image string) (Host, error)
	// Network is nil where the lab can't drop packets between its hosts.
	Network() Network
	// Close ends everything that the lab started.
	Close() error
}

// Host is one machine of the lab.
type Host interface {
	Name() string
	// Addr is how the other servers reach the host: an IP address or a name.
	Addr() string
	// Start runs p there and returns when it is ready.
	Start(ctx context.Context, p Program) (Process, error)
}

// Enterable is a host where this process can do what its programs can: without it no server's clock is
// moved ([ServerClocks]).
type Enterable interface {
	// Dir is where programs there keep their data.
	Dir() string
	// Do runs f with the files and the network of the host.
	Do(f func() error) error
}

// Mobile is a host that can take over an address from another ([MovingAddress]).
type Mobile interface{ TakeAddr(addr string) error }

// Timed is a host that can be given a monotonic clock of its own, before anything runs there ([OwnClocks]).
type Timed interface {
	// OwnClock sets that clock of all programs there ahead of this machine's.
	OwnClock(ahead time.Duration) error
}

// Fillable is a host whose disk can be filled ([FullDisk]).
type Fillable interface {
	// FillDisk leaves no room on it until empty is called.
	FillDisk() (empty func() error, err error)
}

// Node is something with an address.
type Node interface {
	Name() string
	// Addr is the address of its host.
	Addr() string
}

// Process is a program running on a host.
type Process interface {
	Node
	Signal(syscall.Signal) error
	// Endpoint is the host:port at which clients reach the program.
	Endpoint() string
	// Wait returns when the process has ended.
	Wait() error
}

// Network is what connects the hosts, as far as it can be disturbed.
type Network interface {
	// Drop discards packets from one of the first to one of the second: every one, or, by
	// chance, the share that is told. 1 is all.
	Drop(from, to []Node, share float64) (Rule, error)
	// Mute discards what is said from one of the first to one of the second by TCP, and lets connections
	// begin and be reset.
	Mute(from, to []Node) (Rule, error)
	// Overhear has hear see every segment of TCP that leaves a host or reaches it, those that are dropped
	// there among them, one at a time. What a segment says is valid until hear returns.
	Overhear(at Node, hear func(Segment)) (Overheard, error)
	// Connections are those by TCP that are open between a program on one of the first
	// and one on another host, of the second.
	Connections(at, from []Node) ([]Connection, error)
}

// Segment is one of TCP as it passes a host.
type Segment struct {
	From, To netip.AddrPort
	Number   uint32 // of its first byte, or, where it begins a connection, of the one before
	Begins   bool
	Ends     bool // no more comes from there
	// Confirms: what the other end has said before the number Next has arrived.
	Confirms bool
	Next     uint32
	Payload  []byte
}

// Overheard is a host that is listened to until the lab is closed.
type Overheard interface {
	// Missed is how many packets this machine was too busy to take.
	Missed() int
}

// Connection is an open one.
type Connection struct {
	// End ends it at once, at both ends, and loses what is on its way.
	End func() error
}

// Meter is a lab that counts what this program exchanges with its hosts.
type Meter interface {
	// Traffic is all of it so far, both ways.
	Traffic() (Traffic, error)
}

// Spare is a lab that has an address which a [Mobile] host can take ([MovingAddress]).
type Spare interface{ VirtualAddr() string }

// Stretchable is a lab whose hosts can be put far from each other ([Distance]).
type Stretchable interface {
	// Stretch puts hosts that are made from now on at a distance: from this process to one of them and back
	// takes so long at least, as from one of them to another. 0 is as near as they are.
	Stretch(roundTrip time.Duration) error
}

// Traffic is what has passed, with the headers of the link.
type Traffic struct{ Bytes, Packets uint64 }

// Rule is a drop in force.
type Rule interface {
	// Packets that the rule has dropped so far.
	Packets() (uint64, error)
	Remove() error
}

// Program is what to run.
type Program struct {
	// Argv is the command. An Argv[0] of [Self] means this very program. "{addr}"
	// and "{port}" stand for the address and port to listen at and "{dir}" for a
	// directory of its own, which only the lab knows.
	Argv []string
	// Builtin: this very program contains it, as the verb that Argv begins with. In a container it is the
	// image's own program of that name.
	Builtin bool
	// Files are put into that directory before the start, by name; their texts may
	// use the same words.
	Files map[string]string
	// Seeds are like Files, but one that is there already, from a start before, is left as it is, also by Fresh: the
	// program writes into it what it has to know when it is started again. It is its configuration, and not its data.
	Seeds map[string]string
	// Fresh empties that directory first, but for the seeds.
	Fresh bool
	// Disk is a directory on this machine's disk, with an absolute path, below which that
	// directory is; "" for wherever the lab keeps data.
	Disk string
	// Env is added to the environment.
	Env []string
	// Sees are directories of this machine, with absolute paths, that the program finds at
	// the same place.
	Sees []string
	// Before are verbs of lockbench, each of which becomes what follows it.
	Before []string
	// Port that the program listens on, 0 for none.
	Port int
	// Ready reports whether the program answers at the endpoint; nil: at once.
	Ready func(ctx context.Context, endpoint string) error
	// Stdin and Stdout connect the program to the caller, where not nil.
	Stdin  io.Reader
	Stdout io.Writer
	// Reports is the program's descriptor 3, where not nil; only for programs that are
	// part of lockbench itself.
	Reports *os.File
	// Log receives what the program prints otherwise.
	Log io.Writer
}
