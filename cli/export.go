package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/jepsen"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/spf13/cobra"
)

func exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR|FILE|-",
		Short: "Write a history in Jepsen's format",
		Long: `export writes what the clients of a run did with their locks to standard output, as a
history of Jepsen in EDN: invoke, ok, fail and info of acquire and release. What Jepsen has
no words for stands under keys of its own (:client, :id, :until, :token), so that lockbench
check judges grants and beliefs of it as of the original. What was done to the protected
store is left out.

A file is one in the format of docs/history.md, and may be compressed; a dash is standard
input. Exit codes: 0 it was written, 2 the history is not whole, 64 it makes no sense.`,
		Example: "  lockbench export runs/latest >history.edn\n  lockbench export runs/latest | lockbench check -",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return promptly(cmd.Context(), func() error {
				ix, err := historyOf(cmd.Context(), cmd.InOrStdin(), args[0])
				if err != nil {
					return err
				}
				if len(ix.Doubts) > 0 {
					return exit{exitUndecided, jepsen.Export(io.Discard, ix)}
				}
				return jepsen.Export(cmd.OutOrStdout(), ix)
			})
		},
	}
}

// oneRun says what a directory is, and which one of a run there is in its place.
func oneRun(dir string, kind rundir.What) string {
	inside := ""
	switch kind {
	case rundir.IsMatrix:
		inside = ", such as " + filepath.Join(dir, "cells", "ALGORITHM", "FAULT", "1")
	case rundir.IsExplored:
		order := anOrder(dir)
		if order == "" {
			return kind.One() + ", in which no order broke a lock: it has no run" + rundir.OtherLatest(dir, rundir.IsRun)
		}
		inside = ", such as " + order
	}
	return kind.One() + ": name the directory of one run" + inside + rundir.OtherLatest(dir, rundir.IsRun)
}

// anOrder is the directory of an order that broke a lock of an exploration, "" where none did.
func anOrder(dir string) string {
	all, _ := rundir.ExploredIn(dir) // what can't be read names none
	for _, e := range all {
		for _, v := range e.Violations {
			if v.Dir != "" {
				return filepath.Join(e.Dir, filepath.FromSlash(v.Dir))
			}
		}
	}
	return ""
}

// historyOf reads the history of a run's directory, of a file, or of what comes in.
func historyOf(ctx context.Context, stdin io.Reader, name string) (*history.Index, error) {
	if name == "-" {
		return history.ReadFrom(ctx, stdin, "stdin")
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, usage("%w", err)
	}
	if !info.IsDir() {
		return history.Read(ctx, name)
	}
	kind, err := rundir.Kind(name)
	if err != nil {
		return nil, usage("%w", err)
	}
	if kind != rundir.IsRun {
		return nil, usage("%s is %s", name, oneRun(name, kind))
	}
	r, err := rundir.OpenRun(name)
	if err != nil {
		return nil, err
	}
	return r.History(ctx)
}
