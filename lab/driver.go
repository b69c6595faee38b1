package lab

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
)

// Driver is a lab to choose: what it can do is known before it is opened.
type Driver struct {
	Name, Doc string
	// Enter prepares a command, which is this very program, to be the first process of a
	// lab of its own, where it opens the lab. It is started from the thread; leave ends
	// what it leaves behind.
	Enter func(ctx context.Context, cmd *exec.Cmd) (thread *Launcher, leave func() error, err error)
	// Open makes a lab, in a process that has entered it.
	Open func(ctx context.Context) (Lab, error)
	// Ask runs a quick command where the servers of a kind run, and returns what it prints.
	Ask func(ctx context.Context, k Kind, argv []string) ([]byte, error)
	// Ready says why this machine can't have the lab with servers of these kinds, or nil.
	Ready func(ctx context.Context, kinds []Kind) error
	// Foreign: no server is the one that is built into lockbench.
	Foreign bool
	// Claims is what the lab can do. What is not here it can't: a new ability belongs to no lab until
	// one claims it. Lacks has the reasons, for users who ask for more.
	Claims []Ability
	Lacks  map[Ability]string
	// At is the lab with the servers at these addresses, HOST:PORT with commas between them or
	// a file's name; nil for labs that bring their own.
	At func(addrs string) (Driver, error)
	// Borrowed are the servers that it uses; nil where they are its own.
	Borrowed Borrowed
}

// Ability is something that a lab may be able to do to its hosts and programs.
type Ability string

// The abilities beside starting, signalling and ending programs, which every lab has.
const (
	Packets      Ability = "drop packets"
	ServerClocks Ability = "move a server's clock"
	ClientClocks Ability = "move a client's clock"
	OwnDisk      Ability = "keep servers' data on the disk"
	StallDisk    Ability = "stall a server's disk"
	FullDisk     Ability = "fill a server's disk"
	OwnServers   Ability = "run servers of your own"
	OwnImages    Ability = "run servers of an image"
	ClientHosts  Ability = "tell clients' hosts apart"
	Strike       Ability = "strike servers"
	Distance     Ability = "put servers far away"
	OwnClocks    Ability = "give hosts clocks of their own"
	Programs     Ability = "run programs of this machine beside clients"
	// MovingAddress is for topologies that are reached at one address ([Topology.Virtual]).
	MovingAddress Ability = "move an address from host to host"
)

// Can says why the lab, or this machine, can't do something, or nil.
func (d Driver) Can(a Ability) error {
	if !slices.Contains(d.Claims, a) {
		return fmt.Errorf("the %s lab can't %s: %s", d.Name, a, cmp.Or(d.Lacks[a], "it was not made for that"))
	}
	switch a {
	case Distance:
		return hasTap()
	case ServerClocks:
		return HasCompiler()
	case OwnClocks:
		return hasTimeNamespaces()
	case ClientClocks:
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			return fmt.Errorf("can't %s on %s/%s", a, runtime.GOOS, runtime.GOARCH)
		}
	}
	return nil
}

// Absent says why the lab has no such servers, if they are an install of their own ([Kind.Make]) that is not there, or nil.
func (d Driver) Absent(k Kind) error {
	ofImage := k.Image != "" && d.Can(OwnImages) == nil
	if k.Make == "" || d.Borrowed != nil || ofImage {
		return nil
	}
	if err := d.Can(OwnServers); err != nil {
		return err
	}
	return k.Missing()
}
