package cli

import (
	"context"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/spf13/cobra"
)

// matrixFlags say what to run. The file of a gate says it by the same names.
type matrixFlags struct {
	planFlags
	algorithms, faults string
	runs, jobs         int
}

func (f *matrixFlags) add(cmd *cobra.Command, c Catalog) {
	f.planFlags.add(cmd, c, 2*time.Second)
	cmd.Flags().StringVar(&f.algorithms, "algorithms", "*", "comma-separated names or patterns")
	cmd.Flags().StringVar(&f.faults, "faults", "*", "comma-separated names or patterns, or as NAME[@STEP][/LENGTH]")
	cmd.Flags().IntVar(&f.runs, "runs", 1, "runs of each cell, with seeds that count up")
	cmd.Flags().IntVar(&f.jobs, "jobs", 6, "runs at the same time, each in a lab of its own")
}

func (prog program) matrixCommand() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:     "matrix",
		Short:   "Put many locks under many faults",
		Example: "  lockbench matrix --algorithms 'redis-*,etcd-lease' --faults none,pause-holder --runs 3",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := prog.matrix(&f, "matrix")
			if err != nil {
				return err
			}
			cells, err := prog.runMatrix(cmd, &f.planFlags, m)
			if cells == nil {
				return err
			}
			return finish(cmd, &f.planFlags, below(f.out, cells), m.Runs, err)
		},
	}
	f.add(cmd, prog.Catalog)
	f.ci.add(cmd, true)
	return cmd
}

// matrix is what the flags say, completed. A new directory of ours is named after what it
// is.
func (prog program) matrix(f *matrixFlags, what string) (m *run.Matrix, err error) {
	m = &run.Matrix{Catalog: prog.Catalog, Runs: f.runs, Jobs: f.jobs}
	if m.Algorithms, err = pick(f.algorithms, prog.Locks, func(l lb.Impl) string { return l.Info().Name }, prog.Lock); err != nil {
		return nil, err
	}
	if m.Faults, err = pick(f.faults, prog.Faults, func(f faults.Fault) string { return f.Name }, prog.Fault); err != nil {
		return nil, err
	}
	switch {
	case m.Runs < 1:
		return nil, usage("--runs %d: at least 1", m.Runs)
	case m.Jobs < 1:
		return nil, usage("--jobs %d: at least 1", m.Jobs)
	}
	if err := f.complete(prog.Catalog, what); err != nil {
		return nil, err
	}
	m.Base, m.Workload = f.Plan, f.work
	for _, a := range m.Algorithms {
		if err := prog.runsOn(f.Topology, a.Info()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// canRun says whether this machine has what all runs of the matrix need.
func (prog program) canRun(ctx context.Context, p *planFlags, m *run.Matrix) error {
	var topologies []string
	for _, a := range m.Algorithms {
		for _, f := range m.Faults {
			topologies = append(topologies, m.For(a, f, 0).Topology)
		}
	}
	return prog.ready(ctx, p.driver, p.topologies(topologies...))
}

// runMatrix does all runs, and says on standard error how far it is. There are no cells
// where none could begin.
func (prog program) runMatrix(cmd *cobra.Command, p *planFlags, m *run.Matrix) ([]checker.Cell, error) {
	if err := prog.canRun(cmd.Context(), p, m); err != nil {
		return nil, err
	}
	stderr, start := cmd.ErrOrStderr(), time.Now()
	fmt.Fprintf(stderr, "%d algorithms × %d faults × %d runs, %d at a time, seed %d, into %s\n",
		len(m.Algorithms), len(m.Faults), m.Runs, m.Jobs, p.Seed, p.out)
	m.Done = func(c checker.Cell, done, total int) {
		if c.Outcome != lb.NotAvailable {
			fmt.Fprintf(stderr, "%5.1f s [%d/%d] %s × %s: %s\n", time.Since(start).Seconds(), done, total, c.Algorithm, c.Fault, c.Outcome)
		}
	}
	cells, err := m.Run(cmd.Context(), p.out)
	if cells != nil && cmd.Context().Err() != nil {
		fmt.Fprintln(stderr, "the report is of what was done until now")
	}
	return cells, err
}
