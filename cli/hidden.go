package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"os"

	"github.com/lockbench/lockbench/backends/etcd/etcdserver"
	"github.com/lockbench/lockbench/backends/kubernetes/controlplane"
	"github.com/lockbench/lockbench/backends/nats/natsserver"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/bench"
	"github.com/lockbench/lockbench/internal/conformance"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
	"github.com/lockbench/lockbench/workloads/guard"
	"github.com/spf13/cobra"
)

// part is the command line of a process that a lab starts: none of the verbs for people, which take time to make
// and which it has no use for. It is nil for any other process.
func (p program) part(args []string) *cobra.Command {
	for _, verb := range p.parts() {
		if len(args) > 0 && verb.Name() == args[0] {
			part := &cobra.Command{Use: "lockbench", SilenceErrors: true, SilenceUsage: true}
			part.CompletionOptions.DisableDefaultCmd = true
			part.SetFlagErrorFunc(wrongFlag)
			part.AddCommand(verb)
			return part
		}
	}
	return nil
}

// parts are the parts of a lab that are this very program, each started
// as a process of its own.
func (p program) parts() []*cobra.Command {
	return []*cobra.Command{
		{Use: "perform DIR", Hidden: true, Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return run.Perform(cmd.Context(), args[0], p.Catalog)
			}},
		{Use: "probe", Hidden: true, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return lab.Probe(cmd.Context()) }},
		{Use: "worker", Hidden: true, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return worker.Run(cmd.Context(), os.Stdin, os.NewFile(worker.Reports, "reports"), p.Catalog)
			}},
		{Use: "measure DIR", Hidden: true, Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return bench.Measure(cmd.Context(), args[0], p.Catalog)
			}},
		{Use: "conforms DIR", Hidden: true, Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return conformance.Perform(cmd.Context(), args[0], p.Catalog)
			}},
		{Use: "explores DIR", Hidden: true, Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return explore.Perform(cmd.Context(), args[0], p.Catalog)
			}},
		{Use: "hold", Hidden: true, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return bench.Hold(cmd.Context(), os.Stdin, os.NewFile(bench.HolderReports, "reports"), p.Catalog)
			}},
		{Use: "awake CORES", Hidden: true, Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return bench.Awake(cmd.Context(), os.NewFile(bench.AwakeReports, "reports"), args[0])
			}},
		{Use: measuresQuorum + " KIND SERVERS FEW DIR", Hidden: true, Args: exactly(4), RunE: p.measuresQuorum},
		{Use: asksServers + " QUESTION DIR", Hidden: true, Args: exactly(2), RunE: p.asksServers},
		{Use: "store ADDRESS [DATABASE ADDRESS]", Hidden: true, Args: cobra.MaximumNArgs(3), RunE: p.serveStore},
		{Use: "stallable PROGRAM", Hidden: true, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error { return lab.Stallable(args) }},
		{Use: "confined PROGRAM", Hidden: true, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error { return lab.Confined(args) }},
		{Use: "idle", Hidden: true, Args: exactly(0),
			RunE: func(*cobra.Command, []string) error { return lab.Idle() }},
		{Use: "etcd", Hidden: true, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error { return etcdserver.Serve(cmd.Context(), args) }},
		{Use: "control-plane", Hidden: true, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error { return controlplane.Serve(cmd.Context(), args) }},
		{Use: "nats-server", Hidden: true, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error { return natsserver.Serve(cmd.Context(), args) }},
	}
}

// serveStore reads on standard input where its record goes.
func (p program) serveStore(cmd *cobra.Command, args []string) error {
	events, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	rec, err := history.Create(string(events))
	if err != nil {
		return err
	}
	database, err := p.openGuard(cmd.Context(), args[1:])
	if err != nil {
		return errors.Join(err, rec.Close())
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return errors.Join(err, rec.Close())
	}
	return errors.Join(workloads.NewStore(rec.Record).In(database).Serve(cmd.Context(), l), rec.Close())
}

// openGuard connects to the database that keeps the fenced copy, by its kind and
// address; without them there is none.
func (p program) openGuard(ctx context.Context, of []string) (guard.Guard, error) {
	if len(of) != 2 {
		return nil, nil
	}
	kind, err := p.Store(of[0])
	if err != nil {
		return nil, err
	}
	return kind.Open(ctx, of[1])
}
