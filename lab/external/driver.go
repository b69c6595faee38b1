// Package external is the lab of the servers that people already run. Workers live in the
// hosts of the local lab; each server is a host there, too, on which a relay listens, and
// passes what it hears on to the real one. So packets are lost, links cut and connections ended
// between the two as anywhere, and neither the locks nor those who wrote them have to know of
// TLS and passwords.
//
// The network of the lab leads nowhere. Between it and the servers is a [door]: a socket to
// the process that the user started, outside, which connects, logs in, and alone has the
// secrets.
package external

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// errNoServers: the lab is nothing without them.
var errNoServers = errors.New("the external lab is of servers that you run: say which with --addrs HOST:PORT,… or --addrs FILE")

// Driver is the lab of servers that are there already.
func Driver() lab.Driver {
	d := driver(nil)
	d.Enter = func(context.Context, *exec.Cmd) (*lab.Launcher, func() error, error) { return nil, nil, errNoServers }
	d.Ready = func(ctx context.Context, kinds []lab.Kind) error {
		if len(kinds) > 0 {
			return errNoServers
		}
		return lab.Local().Ready(ctx, nil)
	}
	d.At = func(addrs string) (lab.Driver, error) {
		c, err := read(addrs)
		if err != nil {
			return lab.Driver{}, err
		}
		return driver(c), nil
	}
	return d
}

func driver(c *config) lab.Driver {
	const yours, atAddrs = "they are yours, and others may use them", "its servers are those at --addrs"
	d := lab.Driver{
		Name: "external", Doc: "servers that you run, at --addrs",
		Foreign: true,
		Enter:   c.enter, Open: c.open, Ask: c.ask,
		Ready: func(ctx context.Context, kinds []lab.Kind) error {
			if len(kinds) != 1 {
				return fmt.Errorf("the servers at --addrs are of one kind, and the algorithms need %d: choose with --algorithms", len(kinds))
			}
			return errors.Join(lab.Local().Ready(ctx, nil), c.Ready(ctx, kinds[0]))
		},
		Claims: []lab.Ability{lab.Packets, lab.ClientClocks, lab.OwnDisk, lab.Programs},
		Lacks: map[lab.Ability]string{
			lab.Strike:       yours + "; name a command for this fault under 'commands' in the file of --addrs",
			lab.ServerClocks: yours, lab.OwnServers: atAddrs, lab.OwnImages: atAddrs,
			lab.StallDisk: yours, lab.FullDisk: yours,
			lab.Distance:      "they are where they are",
			lab.MovingAddress: "they are reached where --addrs says",
			lab.OwnClocks:     "it is a check of lockbench itself, which needs no servers of yours; use --lab local",
			lab.ClientHosts:   "its servers see them all at one address",
		},
	}
	if c != nil {
		d.Borrowed = c
	}
	return d
}

// Fits implements [lab.Borrowed].
func (c *config) Fits(t lab.Topology) error {
	if (len(c.Sentinels) > 0) == (t.Sentinels > 0) && !t.Virtual && (t.Sentinels > 0 || len(c.Servers) == t.Servers) {
		return nil
	}
	have := english.Count(len(c.Servers), "server")
	if len(c.Sentinels) > 0 {
		have += " and " + english.Count(len(c.Sentinels), "sentinel")
	}
	return fmt.Errorf("--addrs names %s, and %s is %s", have, t.Name, t.Doc)
}

// Like implements [lab.Borrowed].
func (c *config) Like(t lab.Topology) lab.Topology {
	if c.Fits(t) == nil {
		t.Servers, t.Sentinels, t.Master, t.Delayed = len(c.Servers), len(c.Sentinels), c.Master, false
	}
	return t
}

// Command implements [lab.Borrowed].
func (c *config) Command(fault string) (lab.ShellCommand, bool) {
	o, ok := c.Commands[fault]
	return o, ok
}

// ByCommand implements [lab.Borrowed].
func (c *config) ByCommand() []string { return slices.Sorted(maps.Keys(c.Commands)) }

// ask asks a server for its version; how servers of its kind are asked otherwise is for
// those that one can start.
func (c *config) ask(ctx context.Context, k lab.Kind, _ []string) (said []byte, err error) {
	all, err := c.relays(k)
	if err != nil {
		return nil, err
	}
	err = all[0].visited(ctx, func(ctx context.Context, v lab.Visit) error {
		text, err := v.Version(ctx)
		said = []byte(text)
		return err
	})
	return said, err
}
