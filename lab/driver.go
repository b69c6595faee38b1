package lab

import (
	"context"
	"fmt"
	"runtime"
)

// Driver is a lab to choose: what it can do is known before it is opened.
type Driver struct {
	Name, Doc string
	// Inside: lockbench starts itself again as the first process of the lab's own
	// namespaces, and opens the lab there.
	Inside bool
	// Open makes a lab. The output of programs that bring no Log goes to files in logs.
	Open func(ctx context.Context, logs string) (Lab, error)
	// Ready says why this machine can't have the lab with servers of these kinds, or nil.
	Ready func(ctx context.Context, kinds []Kind) error
	// Lacks is what the lab can't do, each with the reason.
	Lacks map[Ability]string
}

// Ability is something that a lab may be able to do to its hosts and programs.
type Ability string

// The abilities beside starting, signalling and ending programs, which every lab has.
const (
	Packets      Ability = "drop packets"
	MoveAddress  Ability = "move an address from one host to another"
	ServerClocks Ability = "move a server's clock"
	ClientClocks Ability = "move a client's clock"
	OwnDisk      Ability = "keep servers' data on the disk"
	StallDisk    Ability = "stall a server's disk"
	FullDisk     Ability = "fill a server's disk"
	OwnServers   Ability = "run servers of your own"
	ClientHosts  Ability = "tell clients' hosts apart"
)

// Can says why the lab can't do something, or nil.
func (d Driver) Can(a Ability) error {
	if why, lacks := d.Lacks[a]; lacks {
		return fmt.Errorf("the %s lab can't %s: %s", d.Name, a, why)
	}
	switch a {
	case ServerClocks:
		return HasCompiler()
	case ClientClocks:
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			return fmt.Errorf("can't %s on %s/%s", a, runtime.GOOS, runtime.GOARCH)
		}
	}
	return nil
}
