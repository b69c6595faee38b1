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
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
	lab.Direct()
	p := program{c}
	root := p.part(args)
	if root == nil {
		if err := c.Check(); err != nil {
			fmt.Fprintln(os.Stderr, "lockbench: internal error:", err)
			return exitInternal
		}
		root = p.rootCommand()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Who asks twice does not want to wait. timeout, and a shell that passes on what its group was
	// sent, ask twice at once, and mean it once.
	context.AfterFunc(ctx, func() { time.AfterFunc(atOnce, stop) })
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

// atOnce is how soon behind a signal another is taken for the same.
const atOnce = 500 * time.Millisecond

func (p program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockbench",
		Short: "Which distributed lock can I trust, under what, and what does it cost me?",
		Long: `lockbench runs published lock algorithms against real servers, makes things go
wrong on purpose, and judges the recorded history. lockbench help lists the pages of its
manual.

` + exitCodes,
		Example: `  lockbench doctor
  lockbench run --algorithm redis-setpx-lua --fault pause@before-write
  lockbench matrix --algorithms 'redis-*' --faults none,pause-holder
  lockbench gate --junit locks.xml
  lockbench bench --algorithms 'redis-*'
  lockbench check runs/latest
  lockbench serve`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("unknown command %q%s", args[0], english.Near(args[0], verbs(cmd)))
			}
			return nil
		},
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version: thisVersion(), // --version
	}
	root.SetVersionTemplate("lockbench {{.Version}}\n")
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(p.runCommand(), p.matrixCommand(), p.shrinkCommand(), p.benchCommand(), p.templateCommand(), p.conformCommand(), p.exploreCommand(), p.checkCommand(), p.quorumCommand(), p.factsCommand(), reportCommand(), serveCommand(), p.gateCommand(), compareCommand(), trendCommand(), p.listCommand(), p.doctorCommand(), cleanCommand(), exportCommand(), versionCommand())
	root.SetHelpCommand(helpCommand(root))
	p.complete(root)
	root.AddCommand(append(p.podCommands(), p.parts()...)...)
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

func wrongFlag(cmd *cobra.Command, err error) error { return usage("%w%s", err, nearFlag(cmd, err)) }

// nearFlag ends an error about a flag with those that were perhaps meant, or with where all are.
func nearFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var all []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
		if near := english.Near("--"+unknown.GetSpecifiedName(), all); strings.HasPrefix(near, "; did you mean ") {
			return near
		}
	}
	return "; see " + cmd.CommandPath() + " --help"
}

// exactly is cobra.ExactArgs with our exit code.
func exactly(n int) cobra.PositionalArgs { return args(cobra.ExactArgs(n)) }

// args gives cobra's own checks our exit code.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) != nil {
			return usage("%s: not with %s; see %s --help", strings.TrimSuffix(cmd.UseLine(), " [flags]"), english.Count(len(args), "argument"), cmd.CommandPath())
		}
		return nil
	}
}
