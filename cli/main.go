// Package cli is lockbench's command line: one file a verb, nothing but flags,
// wiring and exit codes.
//
// It takes the list of algorithms from its caller. A program that puts its own
// lock under the same faults is
//
//	func main() { os.Exit(cli.Main(os.Args[1:], append(impls.All(), mylock.New()))) }
//
// and is used like lockbench itself. The labs start the processes of a run from
// that same program, so Main must be its whole main.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lab"
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
	exitInternal    = 70
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

// program is lockbench with the algorithms that it knows.
type program struct{ impls []lb.Impl }

// Main runs the command line with these algorithms, in the order of the matrix's
// rows, and returns the exit code. Their names must be unique.
func Main(args []string, impls []lb.Impl) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "lockbench: internal error: %v\n%s", r, debug.Stack())
			code = exitInternal
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := program{impls}.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "lockbench:", err)
	}
	if err != nil && ctx.Err() != nil {
		return exitInterrupted
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
	case errors.As(err, &line):
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
4 this machine can't run it, 64 usage, 70 internal error, 130 interrupted.`,
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
	root.AddCommand(p.runCommand(), p.matrixCommand(), checkCommand(), p.quorumCommand(), reportCommand(), p.listCommand(), doctorCommand(), cleanCommand())
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
