// Package cli is lockbench's command line: one file a verb, nothing but flags,
// wiring and exit codes.
//
// What there is to run it takes from its caller, as a [Catalog]: a program that brings
// a lock, a fault, a workload or a topology of its own is used like lockbench itself
// (see examples/). The labs start the processes of a run from that same program, so
// Main must be its whole main.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/lab"
	"github.com/spf13/cobra"
)

// The exit codes say what happened. 70 instead of Go's own 2 for a panic, which
// would read as "undecided".
const (
	exitKept        = 0 // every promise held
	exitBroke       = 1 // a promise broke
	exitUndecided   = 2 // undecided, or no data
	exitCantRun     = 4 // this machine can't run it
	exitUsage       = 64
	exitInternal    = 70 // the bench failed
	exitInterrupted = 130
)

// exit is an error that knows its exit code. An empty text prints nothing.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e exit) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return exit{exitUsage, fmt.Errorf(format, args...)} }

// Catalog is all there is to run. The order is that of lists and of the matrix; names
// are unique in each list. The first workload and the first lab are the defaults.
type Catalog = catalog.Catalog

// program is lockbench with what it knows.
type program struct{ Catalog }

// Main runs the command line with this catalogue, and returns the exit code.
func Main(args []string, c Catalog) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "lockbench: internal error: %v\n%s", r, debug.Stack())
			code = exitInternal
		}
	}()
	if err := c.Check(); err != nil {
		fmt.Fprintln(os.Stderr, "lockbench: internal error:", err)
		return exitInternal
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // who asks twice does not want to wait
	root := program{c}.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(os.Stderr, "lockbench: interrupted")
		return exitInterrupted
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "lockbench:", err)
	}
	return codeOf(err)
}

func codeOf(err error) int {
	var e exit
	var line *history.LineError
	switch {
	case err == nil:
		return exitKept
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, run.ErrFailed):
		return exitInternal
	case errors.As(err, &line), errors.Is(err, fs.ErrExist):
		return exitUsage
	case errors.Is(err, lab.ErrMissing), errors.Is(err, history.ErrTooLarge):
		return exitCantRun
	}
	return exitInternal
}

func (p program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockbench",
		Short: "Which distributed lock can I trust, under what, and what does it cost me?",
		Long: `lockbench runs published lock algorithms against real servers, makes things go
wrong on purpose, and judges the recorded history.

Exit codes: 0 every promise held, 1 a promise broke, 2 undecided or no data,
4 this machine can't run it, 64 usage, 70 a run failed, or lockbench itself,
130 interrupted. A broken promise counts more than a run that failed, and that more
than what is undecided; what was done is reported all the same.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("unknown command %q%s", args[0], near(args[0], verbs(cmd)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w; see lockbench %s --help", err, cmd.Name())
	})
	root.AddCommand(p.runCommand(), p.matrixCommand(), p.benchCommand(), p.checkCommand(), p.quorumCommand(), reportCommand(), p.listCommand(), p.doctorCommand(), cleanCommand())
	root.AddCommand(p.hiddenCommands()...)
	return root
}

func verbs(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// exactly is cobra.ExactArgs with our exit code.
func exactly(n int) cobra.PositionalArgs { return args(cobra.ExactArgs(n)) }

// args gives cobra's own checks our exit code.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage("%w; see lockbench %s --help", err, cmd.Name())
		}
		return nil
	}
}
