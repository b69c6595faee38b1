package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/spf13/cobra"
)

// execFlag is that of a lock which is a program of the user's.
func execFlag(cmd *cobra.Command, line *string) {
	cmd.Flags().Var((*command)(line), "exec", "a lock that is a program, as a command for the shell: see docs/protocol.md and lockbench template")
}

// command is the value of --exec: an empty one is a variable that is not set, and not no lock.
type command string

func (c *command) String() string { return string(*c) }
func (c *command) Type() string   { return "string" }
func (c *command) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("no command")
	}
	*c = command(s)
	return nil
}

// asked starts the program of --exec, to be told what it is; the catalogue has it then, too.
// Without one there is nothing to do.
func (p program) asked(ctx context.Context, line string) (program, *history.Exec, error) {
	if line == "" {
		return p, nil, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return p, nil, err
	}
	d, text, err := foreign.Describe(ctx, foreign.Command{Line: line, Dir: dir})
	if err != nil {
		return p, nil, errors.Join(ctx.Err(), usage("--exec: %w", err))
	}
	e := &history.Exec{Name: d.Name, Command: line, Dir: dir, Digest: foreign.Digest(line, dir), Described: text}
	for _, name := range d.Topologies {
		if _, err := named(p.Topology(name)); err != nil {
			return p, nil, err
		}
	}
	if p.Catalog, err = p.With(e); err != nil {
		return p, nil, usage("--exec: %w", err)
	}
	return p, e, nil
}

// withOwn are the locks of --algorithms and the program of --exec, which is meant alone where
// no others are named.
func withOwn(names string, own *history.Exec) string {
	switch {
	case own == nil:
		return names
	case names == "*":
		return own.Name
	}
	return names + "," + own.Name
}

// asked has the program of --exec asked what it is, and plans it.
func (p *planFlags) asked(ctx context.Context, prog program) (program, error) {
	prog, e, err := prog.asked(ctx, p.exec)
	if e != nil {
		p.Plan.Exec, p.Algorithm = e, e.Name
	}
	return prog, err
}
