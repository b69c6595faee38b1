package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/conformance"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/lab"
	"github.com/spf13/cobra"
)

func (p program) conformCommand() *cobra.Command {
	var (
		line   string
		plan   conformance.Plan
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "conform --exec PROGRAM | --algorithm LOCK",
		Short: "Hold a lock to what it claims",
		Long: `conform puts a lock to a suite of checks on real servers, without faults: what it claims of
itself, what its answers mean, whether it ends what is cancelled, and whether all that it sends
is what it says that it sends. What a program is known to fail it declares (deviates, in
docs/protocol.md); what a lock in Go is known to fail, its own tests declare (impls/locktest), and
here it fails. Standard output has a line for each check.

That a lock conforms says that the bench can believe its answers, and not that it is a good
one: for that there are run and matrix.

Exit codes: 0 all is as claimed or declared, 1 a check failed, 4 this machine can't run it,
64 usage, 130 interrupted.`,
		Example: `  lockbench conform --exec ./mylock.py
  lockbench conform --algorithm peer-kazoo --jobs 2`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.conform(cmd, line, plan, asJSON) },
	}
	execFlag(cmd, &line)
	f := cmd.Flags()
	f.StringVar(&plan.Algorithm, "algorithm", "", "one of the list")
	f.StringVar(&plan.Topology, "topology", "", "the lock service (default: the lock's first)")
	f.StringVar(&plan.Lab, "lab", p.Labs[0].Name, "where the servers run: see lockbench list labs")
	f.IntVar(&plan.Jobs, "jobs", 4, "checks at the same time")
	f.BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

func (p program) conform(cmd *cobra.Command, line string, plan conformance.Plan, asJSON bool) (err error) {
	switch {
	case line == "" && plan.Algorithm == "":
		return usage("--exec or --algorithm is missing: lockbench template begins a lock")
	case line != "" && plan.Algorithm != "":
		return usage("--algorithm %s and --exec: one of them", plan.Algorithm)
	case plan.Jobs < 1:
		return usage("--jobs %d: at least 1", plan.Jobs)
	}
	if p, plan.Exec, err = p.asked(cmd.Context(), line); err != nil {
		return err
	}
	if plan.Exec != nil {
		plan.Algorithm = plan.Exec.Name
	}
	impl, err := named(p.Lock(plan.Algorithm))
	if err != nil {
		return err
	}
	if plan.Topology == "" {
		plan.Topology = impl.Info().Topologies[0]
	}
	if err := p.runsOn(plan.Topology, impl.Info()); err != nil {
		return err
	}
	driver, err := named(p.Lab(plan.Lab, ""))
	if err != nil {
		return err
	}
	if driver.At != nil {
		return usage("--lab %s: conform starts servers of its own; leave it out, or use --lab %s", plan.Lab, p.Labs[0].Name)
	}
	if err := driver.Can(lab.Programs); impl.Info().Program && err != nil {
		return usage("%w", err)
	}
	if err := catalog.Ready(impl); err != nil {
		return exit{exitCantRun, err}
	}
	if err := p.ready(cmd.Context(), driver, []string{plan.Topology}, lab.Own{}, false); err != nil {
		return err
	}
	return p.tried(cmd, plan, asJSON)
}

// tried puts the lock to the suite and shows what came of it.
func (p program) tried(cmd *cobra.Command, plan conformance.Plan, asJSON bool) error {
	out, board := cmd.OutOrStdout(), progress.New(cmd.ErrOrStderr())
	board.Say("%s on %s (%s lab), %s at a time", plan.Algorithm, plan.Topology, plan.Lab, english.Count(plan.Jobs, "check"))
	var all []conformance.Result
	failed, deviates := 0, 0
	err := conformance.Execute(cmd.Context(), p.Catalog, plan, func(r conformance.Result) {
		all = append(all, r)
		mark, why := "ok  ", r.Note
		r.Error = strings.ReplaceAll(r.Error, "\n", "; ") // a line a check
		switch {
		case !r.OK && r.Error == "": // it passes what it said that it would not
			mark, why = "FAIL", "passes, although it is said to deviate: "+r.Deviates
			failed++
		case !r.OK:
			mark, why = "FAIL", r.Error
			failed++
		case r.Deviates != "":
			mark, why = "dev ", r.Deviates+": "+r.Error
			deviates++
		}
		if !asJSON {
			fmt.Fprintf(out, "%s %-22s %s\n", mark, r.Check, why)
		}
	})
	board.Close()
	if asJSON {
		err = errors.Join(err, printJSON(out, map[string]any{"schema": history.Schema, "algorithm": plan.Algorithm, "checks": all}))
	} else if err == nil {
		fmt.Fprintf(out, "%s: %d passed, %d deviate as declared, %d failed\n", english.Count(len(all), "check"), len(all)-failed-deviates, deviates, failed)
	}
	if err == nil && failed > 0 {
		return exit{exitBroke, nil}
	}
	return err
}
