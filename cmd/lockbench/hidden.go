package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/lockbench/lockbench/internal/history"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/workloads"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/pkg/v3/flags"
	"go.etcd.io/etcd/server/v3/embed"
)

// hiddenCommands are the parts of a lab that are this very program, each started
// as a process of its own.
func hiddenCommands() []*cobra.Command {
	return []*cobra.Command{
		{Use: "perform DIR", Hidden: true, Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error { return run.Perform(cmd.Context(), args[0]) }},
		{Use: "probe", Hidden: true, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return lab.Probe(cmd.Context()) }},
		{Use: "worker", Hidden: true, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return worker.Run(cmd.Context(), os.Stdin, os.Stdout, findAlgorithm, findWorkload)
			}},
		{Use: "store ADDRESS EVENTS", Hidden: true, Args: exactly(2), RunE: serveStore},
		{Use: "etcd", Hidden: true, DisableFlagParsing: true, RunE: serveEtcd},
	}
}

func serveStore(cmd *cobra.Command, args []string) error {
	rec, err := history.Create(args[1])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return errors.Join(err, rec.Close())
	}
	return errors.Join(workloads.NewStore(rec.Record).Serve(cmd.Context(), l), rec.Close())
}

// serveEtcd is the etcd server, with the flags of its own program.
func serveEtcd(cmd *cobra.Command, args []string) error {
	cfg := embed.NewConfig()
	set := flag.NewFlagSet("etcd", flag.ContinueOnError)
	cfg.AddFlags(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	// The flags that are lists of addresses are left for the caller to copy.
	cfg.ListenPeerUrls = flags.UniqueURLsFromFlag(set, "listen-peer-urls")
	cfg.ListenClientUrls = flags.UniqueURLsFromFlag(set, "listen-client-urls")
	cfg.AdvertisePeerUrls = flags.UniqueURLsFromFlag(set, "initial-advertise-peer-urls")
	cfg.AdvertiseClientUrls = flags.UniqueURLsFromFlag(set, "advertise-client-urls")
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer e.Close()
	select {
	case err := <-e.Err():
		return fmt.Errorf("etcd: %w", err)
	case <-cmd.Context().Done():
		return nil
	}
}
