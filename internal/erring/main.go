// Command erring shows what it costs not to know clocks exactly. It takes the runs of a matrix whose workers' hosts have
// clocks of their own (lockbench matrix --clocks apart), of which it knows how they really differ, and judges each
// again with that, with what was measured, and with bounds that are wider.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cli/stock"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
)

func main() {
	flag.Parse()
	if err := study(context.Background(), os.Stdout, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "erring:", err)
		os.Exit(1)
	}
}

// bounds are the least errors that clocks are taken to have.
var bounds = []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond}

// row is what became of the runs within one bound: of those that were hurt, and of the others.
type row struct {
	widest                         float64 // bound, in ms
	same, undecided, less          int
	unhurt, unhurtUndecided, wrong int
}

func study(ctx context.Context, out io.Writer, dirs []string) error {
	rows := make([]row, len(bounds))
	clocks, outside, all := 0, 0, 0
	for _, dir := range dirs {
		m, err := rundir.OpenMatrix(dir)
		if err != nil {
			return err
		}
		runs, damaged := m.Runs()
		if len(damaged) > 0 {
			return damaged[0]
		}
		for _, r := range runs {
			if r.Plan.Clocks != history.Apart {
				return fmt.Errorf("%s: its clocks were not apart: add --clocks apart", r.Dir)
			}
			truth, err := truly(ctx, r)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Dir, err)
			}
			all++
			for i, least := range bounds {
				seen, err := run.JudgeAs(ctx, stock.Catalog(), r, history.ClockErrors{Least: least})
				if err != nil {
					return fmt.Errorf("%s: %w", r.Dir, err)
				}
				if why := rows[i].add(truth, seen); why != "" {
					fmt.Fprintf(out, "%s, within %v: %s\n", r.Dir, least, why)
				}
			}
			n, bad, err := within(r)
			if err != nil {
				return err
			}
			clocks, outside = clocks+n, outside+bad
		}
	}
	fmt.Fprintf(out, "%d runs. Of %d clocks, %d differed by other than was measured, and its bound.\n\n", all, clocks, outside)
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| clocks known within\t| hurt: the same\t| undecided\t| reads as less\t| unhurt: the same\t| undecided\t| wrong\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for i, r := range rows {
		name := bounds[i].String()
		if i == 0 {
			name = fmt.Sprintf("%.2f ms, as measured", r.widest)
		}
		fmt.Fprintf(w, "| %s\t| %d\t| %d\t| %d\t| %d\t| %d\t| %d\t|\n", name, r.same, r.undecided, r.less, r.unhurt, r.unhurtUndecided, r.wrong)
	}
	return w.Flush()
}

// add counts a run. It says why where errors have invented something.
func (r *row) add(truth, seen checker.Result) (invented string) {
	r.widest = max(r.widest, seen.ClockErrorMS)
	hurt := truth.Outcome.Hurtful()
	worse := seen.Outcome.Hurtful() && seen.Outcome.Gravity() > truth.Outcome.Gravity()
	for i, l := range seen.Layers {
		if l.Verdict == checker.Invalid && truth.Layers[i].Verdict != checker.Invalid {
			invented = fmt.Sprintf("%s is %s, and is not: %s", l.Name, l.Verdict, l.Summary)
		}
	}
	if e := seen.Plan.Expect; e != nil && invented == "" && seen.Outcome.Hurtful() && !slices.Contains(e.Outcomes, seen.Outcome) {
		invented = fmt.Sprintf("%s, which %s does not declare: %s", seen.Outcome, seen.Plan.Algorithm, seen.Reason)
	}
	switch {
	case worse || invented != "":
		r.wrong++
		return max(invented, string(seen.Outcome))
	case seen.Outcome == truth.Outcome && hurt:
		r.same++
	case seen.Outcome == truth.Outcome:
		r.unhurt++
	case seen.Outcome == lb.Inconclusive && hurt:
		r.undecided++
	case seen.Outcome == lb.Inconclusive:
		r.unhurtUndecided++
	default:
		r.less++
	}
	return ""
}

// truly judges a run with its clocks as they really are.
func truly(ctx context.Context, r *rundir.Run) (checker.Result, error) {
	dir, err := os.MkdirTemp("", "erring-")
	if err != nil {
		return checker.Result{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(r.Dir)); err != nil {
		return checker.Result{}, err
	}
	real, err := rundir.OpenRun(dir)
	if err != nil {
		return checker.Result{}, err
	}
	err = each(real, func(file, recorder string, truth clock.Line) error { return history.SetClock(file, recorder, &truth) })
	if err != nil {
		return checker.Result{}, err
	}
	return run.Judge(ctx, stock.Catalog(), real)
}

// each is called with the files of a run whose recorders have clocks of their own, and with how these really differ.
func each(r *rundir.Run, do func(file, recorder string, truth clock.Line) error) error {
	files, err := filepath.Glob(r.EventsFile("*"))
	if err != nil {
		return err
	}
	done := 0
	for _, file := range files {
		recorder, _, _ := strings.Cut(filepath.Base(file), ".")
		if truth, own := run.TrueClock(r.Plan, recorder); own {
			if err := do(file, recorder, truth); err != nil {
				return err
			}
			done++
		}
	}
	if done < r.Plan.Processes {
		return fmt.Errorf("%s has %d recorders with clocks of their own, and %d processes: were its events compressed? gunzip them", r.Dir, done, r.Plan.Processes)
	}
	return nil
}

// within counts the clocks of a run, and those of which the true offset is not within what was measured.
func within(r *rundir.Run) (clocks, outside int, err error) {
	return clocks, outside, each(r, func(file, _ string, truth clock.Line) error {
		told, err := history.ClockOf(file)
		if clocks++; !told.Holds(truth) {
			outside++
		}
		return err
	})
}
