package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/lockbench/lockbench/lab"
)

// borrowed is the lab of that name, given or not. Whoever names servers, and no lab, wants the
// one that has no servers of its own.
func borrowed(c Catalog, name *string, addrs string, given bool) (lab.Driver, error) {
	if addrs != "" && !given {
		for _, d := range c.Labs {
			if d.At != nil {
				*name = d.Name
			}
		}
	}
	d, err := named(c.Lab(*name, addrs))
	switch {
	case err != nil && codeOf(err) != exitUsage:
		return d, usage("--addrs: %w", err)
	case err == nil && d.At != nil && addrs == "":
		return d, usage("--lab %s without --addrs: say where the servers are", *name)
	}
	if err == nil && d.Borrowed != nil {
		err = checkCommands(c, d.Borrowed)
	}
	return d, err
}

// checkCommands refuses commands for what is no fault of servers.
func checkCommands(c Catalog, b lab.Borrowed) error {
	for _, name := range b.ByCommand() {
		f, err := named(c.Fault(name))
		if err == nil {
			err = f.ByCommand()
		}
		if err != nil {
			return usage("--addrs: a command for %s: %w", name, err)
		}
	}
	return nil
}

// clear removes what a run has left on servers of somebody else, if that is what the user
// wants.
func clear(servers lab.Borrowed, k lab.Kind, left *lab.OccupiedError, yes bool) error {
	if !yes {
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			return fmt.Errorf("%w; --yes removes it", left)
		}
		fmt.Fprintf(os.Stderr, "%v\nRemove it? [y/N] ", left)
		answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); err != nil || a != "y" && a != "yes" {
			return errors.New("nothing was touched")
		}
	}
	return servers.Clear(k)
}
