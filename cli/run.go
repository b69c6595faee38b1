package cli

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (prog program) runCommand() *cobra.Command {
	var p planFlags
	cmd := &cobra.Command{
		Use:     "run --algorithm A --fault F",
		Short:   "Put one lock under one fault",
		Example: "  lockbench run --algorithm redis-setpx-lua --fault pause-at:before-write",
		Args:    exactly(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return prog.runOne(cmd, &p) },
	}
	p.add(cmd, 5e9)
	cmd.Flags().StringVar(&p.Algorithm, "algorithm", "", "the lock: see lockbench list algorithms")
	cmd.Flags().BoolVar(&p.First, "first", false, "stop at the first violation that is seen while the run goes on")
	cmd.Flags().StringVar(&p.Fault, "fault", "none", "what goes wrong: see lockbench list faults")
	return cmd
}

func (prog program) runOne(cmd *cobra.Command, p *planFlags) error {
	impl, err := prog.findAlgorithm(p.Algorithm)
	if err != nil {
		return err
	}
	fault, err := findFault(p.Fault)
	if err != nil {
		return err
	}
	work, err := findWorkload(p.Workload)
	if err != nil {
		return err
	}
	info := impl.Info()
	if err := checkTopology(p.Topology, info); err != nil {
		return err
	}
	if err := p.complete(p.Algorithm + "-" + p.Fault); err != nil {
		return err
	}
	m := run.Matrix{Workload: work, Base: p.Plan}
	plan := m.For(impl, fault, 0)
	if err := fault.Available(run.Setting(plan, info, work.Info())); err != nil {
		return usage("%s can't strike here: %w", fault.Name(), err)
	}
	if err := ready(cmd.Context(), plan.Lab, []string{plan.Topology}); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s × %s on %s (%s lab), %d clients in %d processes, TTL %v, seed %d\n",
		plan.Algorithm, plan.Fault, plan.Topology, plan.Lab, plan.Clients, plan.Processes, plan.TTL, plan.Seed)
	res, err := run.Execute(cmd.Context(), p.out, plan)
	if err != nil {
		return err
	}
	cell := run.Cell([]lb.RunResult{res})
	cell.Dir = p.out
	return finish(cmd, p, []lb.Cell{cell})
}

// finish makes the report and shows the cells.
func finish(cmd *cobra.Command, p *planFlags, cells []lb.Cell) error {
	page, err := reports.HTML(p.out)
	if err != nil {
		return err
	}
	if p.ours {
		if err := rundir.Latest(p.out); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "note:", err)
		}
	}
	err = show(cmd, cells, p.json)
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", page)
	for _, c := range cells {
		if c.Promise == lb.PromiseBroken {
			fmt.Fprintf(cmd.ErrOrStderr(), "again:  %s\n", again(cmd, c))
		}
	}
	return err
}

// again is the command that makes the same run once more: with the flags that were
// given, save for those that only a matrix has.
func again(cmd *cobra.Command, c lb.Cell) string {
	line := fmt.Sprintf("lockbench run --algorithm %s --fault %s --seed %d", c.Algorithm, c.Fault, c.Seed)
	one := map[string]bool{"workload": true, "lab": true, "topology": true, "clients": true, "processes": true, "ttl": true, "duration": true}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if one[f.Name] && (f.Changed || f.Name == "duration") { // whose default differs
			line += fmt.Sprintf(" --%s %s", f.Name, f.Value)
		}
	})
	return line
}
