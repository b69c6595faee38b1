package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

func (prog program) runCommand() *cobra.Command {
	var p planFlags
	cmd := &cobra.Command{
		Use:   "run --algorithm A --fault F",
		Short: "Put one lock under one fault",
		Long: `run starts real servers and client processes, lets the clients work inside of the lock,
makes one thing go wrong, and judges what was recorded. Standard error says what the run is
at, standard output what came of it; the page shows how.

A fault is NAME[@STEP][/LENGTH]: any that strikes clients strikes at any step of the lock
(lockbench list algorithms) or of the workload, for as long as is told, in leases or as a
time. Several with commas between them strike one after the other. The fault random is a
mix, drawn by the seed, until the end of the run. Of both, --faults-at-once 2 lets two be in
force at the same time, as far as they strike different things.`,
		Example: `  lockbench run --algorithm redis-setpx-lua --fault pause@before-write
  lockbench run --algorithm etcd-lease --fault cut@after-put/0.7ttl --ttl 3s
  lockbench run --algorithm etcd-lease --fault pause-holder,kill-leader --faults-at-once 2
  lockbench run --algorithm etcd-lease --fault random --duration 10m --first`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return prog.runOne(cmd, &p) },
	}
	p.add(cmd, prog.Catalog, 5*time.Second)
	cmd.Flags().StringVar(&p.Algorithm, "algorithm", "", "the lock: see lockbench list algorithms")
	cmd.Flags().BoolVar(&p.First, "first", false, "stop at the first violation that is seen while the run goes on")
	cmd.Flags().StringVar(&p.Fault, "fault", prog.Faults[0].Name, "what goes wrong, as NAME[@STEP][/LENGTH], or several with commas: see lockbench list faults")
	return cmd
}

func (prog program) runOne(cmd *cobra.Command, p *planFlags) error {
	switch {
	case p.Algorithm == "" && p.exec == "":
		return usage("--algorithm is missing; lockbench list algorithms says which there are, and --exec takes one that is a program of yours")
	case p.Algorithm != "" && p.exec != "":
		return usage("--algorithm %s and --exec: one of them", p.Algorithm)
	}
	prog, err := p.asked(cmd.Context(), prog)
	if err != nil {
		return err
	}
	impl, err := named(prog.Lock(p.Algorithm))
	if err != nil {
		return err
	}
	fault, err := named(prog.Fault(p.Fault))
	if err != nil {
		return err
	}
	if err := p.complete(prog.Catalog, p.Algorithm+"-"+p.Fault); err != nil {
		return err
	}
	if err := p.meet(fault); err != nil {
		return err
	}
	if err := prog.runsOn(p.Topology, impl.Info()); err != nil {
		return err
	}
	m := run.Matrix{Catalog: prog.Catalog, Workload: p.work, Base: p.Plan}
	if err := m.Work(impl.Info()).Available(impl.Info()); err != nil {
		return usage("%w", err)
	}
	if err := renewed(p.Work, impl.Info()); err != nil {
		return err
	}
	plan := m.For(impl, fault, 0)
	if _, err := prog.Servers(plan); err != nil {
		return usage("%w", err)
	}
	if err := m.Available(plan, fault); errors.Is(err, lab.ErrMissing) {
		return exit{exitCantRun, fmt.Errorf("this machine can't run it: %w", err)}
	} else if err != nil {
		return usage("%s under %s can't be run here: %w", plan.Algorithm, fault.Name, err)
	}
	if err := prog.readyFor(cmd.Context(), p, plan.Topology); err != nil {
		return err
	}
	board := progress.New(cmd.ErrOrStderr())
	board.Say("%s × %s on %s (%s lab), %s in %s, TTL %v, seed %d",
		plan.Algorithm, plan.Fault, plan.Topology, plan.Lab, english.Count(plan.Clients, "client"), english.Count(plan.Processes, "process"), plan.TTL, plan.Seed)
	now := newPhases(board)
	res, failed := run.Watched(cmd.Context(), prog.Catalog, p.out, plan, now.tell)
	now.close()
	if errors.Is(failed, fs.ErrExist) {
		return failed // what is there is another run's
	}
	cell := checker.CellOf([]checker.Result{res})
	cell.Dir = p.out
	err = finish(cmd, p, []checker.Cell{cell}, 1, failed)
	if p.exec != "" && cell.Mechanism != "" {
		if same, ok := prog.instead(m, plan, fault); ok {
			fmt.Fprintf(cmd.ErrOrStderr(), "does a correct lock do the same? %s\n", strings.Join(reports.Command(os.Args[0], same), " "))
		}
	}
	return err
}

// renewed refuses long work under a lock whose lease nobody renews.
func renewed(work string, lock lb.Info) error {
	if work == "" || work == history.NoWork || lock.Outlasts() {
		return nil
	}
	return usage("--work %s: nobody renews the lease of %s: the fault slow-work is work that takes longer", work, lock.Name)
}

// finish makes the page and shows the cells, each of so many planned runs, also where
// runs failed. A broken promise counts more than that.
func finish(cmd *cobra.Command, p *planFlags, cells []checker.Cell, planned int, failed error) error {
	tell, noPage := leave(cmd, p)
	err := show(cmd, cells, planned, p.json)
	g := gated(cells, planned)
	wrote := p.ci.write(g)
	tell()
	tellAgain(cmd.ErrOrStderr(), g.Findings)
	return worse(err, errors.Join(failed, noPage, wrote))
}

// leave makes the page of a directory that is done. tell says where it is.
func leave(cmd *cobra.Command, p *planFlags) (tell func(), noPage error) {
	page, noPage := pageOf(cmd.Context(), p.out)
	if p.ours {
		if err := rundir.Latest(p.out); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "note:", err)
		}
	}
	return func() {
		if noPage == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", page)
		} else if cmd.Context().Err() != nil { // of which alone Main tells
			fmt.Fprintln(cmd.ErrOrStderr(), "note:", noPage)
		}
	}, noPage
}

// pageOf makes the page. Who has interrupted the runs does not wait long for it.
func pageOf(ctx context.Context, dir string) (string, error) {
	write := reports.HTML
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		write = reports.Brief
	}
	var path string
	if err := promptly(ctx, func() (err error) { path, err = write(dir); return err }); err != nil {
		return "", fmt.Errorf("there is no page (%s makes it): %w", shellLine("report", dir), err)
	}
	return path, nil
}
