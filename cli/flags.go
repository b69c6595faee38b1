package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// planFlags are the flags that run and matrix share.
type planFlags struct {
	lb.Plan
	out  string
	ours bool // out was not given
	json bool
}

func (p *planFlags) add(cmd *cobra.Command, duration time.Duration) {
	f := cmd.Flags()
	f.StringVar(&p.Workload, "workload", "counter", "what clients do inside the lock")
	f.StringVar(&p.Lab, "lab", run.LabLocal, "where the servers run: local (namespaces) or docker (containers)")
	f.StringVar(&p.Topology, "topology", "", "the lock service (default: the algorithm's first)")
	f.IntVar(&p.Clients, "clients", 6, "clients, over all processes")
	f.IntVar(&p.Processes, "processes", 3, "worker processes, each on a host of its own")
	f.DurationVar(&p.TTL, "ttl", 0, "lease time (default: 1s, or longer where the fault needs it)")
	f.DurationVar(&p.Duration, "duration", duration, "how long clients work at least; a fault makes it longer")
	f.Uint64Var(&p.Seed, "seed", 0, "seed of the schedule (default: from the time, printed)")
	f.StringVar(&p.out, "out", "", "the directory to write (default: runs/<time>-…)")
	f.BoolVar(&p.json, "json", false, "one JSON object on standard output")
}

// complete fills in what was not given and refuses what can't work.
func (p *planFlags) complete(what string) error {
	const longest = 24 * time.Hour
	switch {
	case p.Lab != run.LabLocal && p.Lab != run.LabDocker:
		return usage("unknown lab %q%s", p.Lab, near(p.Lab, []string{run.LabLocal, run.LabDocker}))
	case p.Processes < 1 || p.Processes > 100:
		return usage("--processes %d: from 1 to 100", p.Processes)
	case p.Clients < p.Processes || p.Clients > 1000:
		return usage("--clients %d: from one a process (%d) to 1000", p.Clients, p.Processes)
	case p.TTL != 0 && p.TTL < 100*time.Millisecond || p.TTL > time.Hour:
		return usage("--ttl %v: from 100ms to 1h", p.TTL)
	case p.Duration < 0 || p.Duration > longest:
		return usage("--duration %v: from 0 to %v", p.Duration, longest)
	}
	if p.Seed == 0 {
		p.Seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	if p.out == "" {
		p.out, p.ours = rundir.NewDir(what), true
	}
	return nil
}

// ready says whether this machine can run the plan's servers in its lab.
func ready(ctx context.Context, labName string, topologies []string) error {
	var err error
	kinds := map[string]bool{}
	for _, name := range topologies {
		if t, ok := lab.FindTopology(name); ok && t.Kind != "" {
			kinds[t.Kind] = true
			if labName == run.LabLocal {
				err = errors.Join(err, t.Missing())
			}
		}
	}
	if labName == run.LabLocal {
		err = errors.Join(err, canIsolate(ctx))
	} else {
		var names []string
		for k := range kinds {
			names = append(names, k)
		}
		err = errors.Join(err, docker.Check(ctx, names...))
	}
	if err != nil {
		return exit{exitCantRun, fmt.Errorf("this machine can't run it: %w", err)}
	}
	return nil
}

func canIsolate(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return lab.CanIsolate(ctx, exec.CommandContext(ctx, self, "probe"))
}

// show writes the result for people or for programs, and turns it into the exit
// code.
func show(cmd *cobra.Command, cells []lb.Cell, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		return errors.Join(printJSON(out, rundir.MatrixFile{Schema: lb.Schema, Cells: cells}), verdict(cells))
	}
	width, color := 100, false
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		color = os.Getenv("NO_COLOR") == ""
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	return errors.Join(reports.Matrix(out, cells, color, width), verdict(cells))
}

// below makes the cells' directories, which can be moved with their matrix, those of
// what is printed, which can't.
func below(dir string, cells []lb.Cell) []lb.Cell {
	cells = slices.Clone(cells)
	for i := range cells {
		if cells[i].Dir != "" {
			cells[i].Dir = filepath.Join(dir, filepath.FromSlash(cells[i].Dir))
		}
	}
	return cells
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// verdict is the gate: a broken promise counts more than an undecided cell, and
// no cell at all is no data.
func verdict(cells []lb.Cell) error {
	code := exitKept
	if len(cells) == 0 {
		code = exitUndecided
	}
	for _, c := range cells {
		switch {
		case c.Promise == lb.PromiseBroken:
			return exit{exitBroke, nil}
		case c.Outcome == lb.Inconclusive:
			code = exitUndecided
		}
	}
	if code != exitKept {
		return exit{code, nil}
	}
	return nil
}
