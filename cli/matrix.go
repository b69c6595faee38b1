package cli

import (
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/spf13/cobra"
)

func (prog program) matrixCommand() *cobra.Command {
	var (
		p                  planFlags
		algorithms, faults string
		runs, jobs         int
	)
	cmd := &cobra.Command{
		Use:     "matrix",
		Short:   "Put many locks under many faults",
		Example: "  lockbench matrix --algorithms 'redis-*,etcd-lease' --faults none,pause-holder --runs 3",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := run.Matrix{Catalog: prog.Catalog, Runs: runs, Jobs: jobs}
			return prog.runMatrix(cmd, &m, &p, algorithms, faults)
		},
	}
	p.add(cmd, prog.Catalog, 2*time.Second)
	cmd.Flags().StringVar(&algorithms, "algorithms", "*", "comma-separated names or patterns")
	cmd.Flags().StringVar(&faults, "faults", "*", "comma-separated names or patterns, or as NAME[@STEP][/LENGTH]")
	cmd.Flags().IntVar(&runs, "runs", 1, "runs of each cell, with seeds that count up")
	cmd.Flags().IntVar(&jobs, "jobs", 6, "runs at the same time, each in a lab of its own")
	return cmd
}

func (prog program) runMatrix(cmd *cobra.Command, m *run.Matrix, p *planFlags, algorithms, faultGlobs string) (err error) {
	if m.Algorithms, err = pick(algorithms, prog.Locks, func(l lb.Impl) string { return l.Info().Name }, prog.Lock); err != nil {
		return err
	}
	if m.Faults, err = pick(faultGlobs, prog.Faults, func(f faults.Fault) string { return f.Name }, prog.Fault); err != nil {
		return err
	}
	if m.Runs < 1 || m.Jobs < 1 {
		return usage("--runs %d, --jobs %d: at least 1 each", m.Runs, m.Jobs)
	}
	if err := p.complete(prog.Catalog, "matrix"); err != nil {
		return err
	}
	m.Base, m.Workload = p.Plan, p.work
	var topologies []string
	for _, a := range m.Algorithms {
		if err := prog.runsOn(p.Topology, a.Info()); err != nil {
			return err
		}
		for _, f := range m.Faults {
			topologies = append(topologies, m.For(a, f, 0).Topology)
		}
	}
	if err := prog.ready(cmd.Context(), p.driver, p.topologies(topologies...)); err != nil {
		return err
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
	if cells == nil {
		return err
	}
	if cmd.Context().Err() != nil {
		fmt.Fprintln(stderr, "the report is of what was done until now")
	}
	return finish(cmd, p, below(p.out, cells), m.Runs, err)
}
