package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/kubernetes"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/spf13/cobra"
)

// collecting is a job whose shards are collected.
type collecting struct {
	cluster *kubernetes.Cluster
	at      *placeFlags // where that is
	job     *batch.Job
	ours    bool // made by this command, with which it ends
}

// collect follows the job, takes its shards into one matrix, removes the job, and ends as a matrix
// on this machine does.
func (prog program) collect(cmd *cobra.Command, f *matrixFlags, m *run.Matrix, c collecting) error {
	of := int(*c.job.Spec.Completions)
	board := progress.New(cmd.ErrOrStderr())
	board.Say("%s", plannedText(m, f, of))
	board.Say("job %s in namespace %s", c.job.Name, c.cluster.Namespace)
	out, err := m.Plan(f.out)
	if err != nil {
		if c.ours {
			err = errors.Join(err, c.removed(cmd))
		}
		return err
	}
	defer rundir.Hold(f.out)()
	w := newWatch(board, m.Budget, m.Until)
	all := newTogether(w, m, out, of)
	meanwhile := gatherer{m: m, out: out}
	lost, broke := c.cluster.Follow(cmd.Context(), c.job, out.Incoming(), kubernetes.Watcher{
		Line: all.line, Again: all.again, Say: board.Say,
		Stand: func(s kubernetes.Stand) { w.stands(standText(s)) },
		Take: func(shard int, dir string) error {
			nth := rundir.Shard{Nth: shard + 1, Of: of}
			err := m.Take(out, dir, nth)
			if err == nil {
				board.Say("shard %v is here", nth)
				meanwhile.gather()
			}
			return err
		},
	})
	w.close()
	over := broke == nil || c.ours && (cmd.Context().Err() != nil || never(broke))
	if over {
		broke = errors.Join(broke, c.removed(cmd))
	}
	cells, failed := m.Gather(out)
	if cells == nil {
		return errors.Join(broke, failed)
	}
	if runs, _ := out.Runs(); len(runs) == 0 && never(broke) {
		if f.ours { // with no run in it
			broke = errors.Join(broke, os.RemoveAll(f.out))
		}
		return broke
	}
	if !over || cmd.Context().Err() != nil {
		board.Say("the report is of what was collected until now; %s", c.rest(over, f.out))
		return worse(finish(cmd, &f.planFlags, below(f.out, cells), m.Runs, nil), broke)
	}
	failed = errors.Join(failed, missing(m, out, lost, of))
	sayWide(board, cells, m.Until, "to go on, on this machine: "+shellLine("matrix", "--resume", f.out))
	return worse(finish(cmd, &f.planFlags, below(f.out, cells), m.Runs, failed), broke)
}

// canCollect says why what comes of a job can't be collected into the directory that the flags name,
// or nil.
func (f *matrixFlags) canCollect() error {
	if rundir.Held(f.out) {
		return usage("--out %s: another command is at work there", f.out)
	}
	return f.ci.writable(f.out)
}

// gatherer keeps the cells of a matrix in step with what was taken, for whoever looks at the directory
// meanwhile. Of many runs that takes a while, and it has a twentieth of the time.
type gatherer struct {
	m    *run.Matrix
	out  *rundir.Matrix
	next time.Time
}

func (g *gatherer) gather() {
	start := time.Now()
	if start.Before(g.next) {
		return
	}
	_, _ = g.m.Gather(g.out) // what is wrong with it, the last time tells
	g.next = time.Now().Add(20 * time.Since(start))
}

// never reports whether it is an error of work that no pod will do.
func never(err error) bool {
	return errors.Is(err, kubernetes.ErrNoStart) || errors.Is(err, kubernetes.ErrRefused)
}

// rest is how to have what was not collected. The job may be over.
func (c collecting) rest(over bool, dir string) string {
	if over {
		return "the job is removed, and to do the rest on this machine: " + shellLine("matrix", "--resume", dir)
	}
	args := append([]string{"matrix", "--on", onKubernetes, "--follow", c.job.Name, "--out", dir}, c.at.flags(c.cluster.Namespace)...)
	return "the job goes on, and to collect the rest: " + shellLine(args...)
}

func standText(s kubernetes.Stand) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{s.Collected, "collected"}, {s.Running, "at work"}, {s.Waiting, "not started"}, {s.Lost, "lost"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if parts == nil {
		return ""
	}
	return "shards: " + strings.Join(parts, ", ")
}

// missing is the error that says which runs were never done, and why.
func missing(m *run.Matrix, out *rundir.Matrix, lost []kubernetes.Lost, of int) error {
	var errs []error
	for _, l := range lost {
		nth := rundir.Shard{Nth: l.Shard + 1, Of: of}
		if cells := m.Missing(out, nth); len(cells) > 0 {
			errs = append(errs, fmt.Errorf("%w: shard %v, of which is missing: %s: %s", run.ErrFailed, nth, missingText(cells), cmp.Or(l.Why, "nobody has collected it")))
		}
	}
	return errors.Join(errs...)
}

func missingText(cells []run.Missing) string {
	const most = 6
	var parts []string
	for _, c := range cells[:min(most, len(cells))] {
		var numbers []string
		for _, n := range c.Runs {
			numbers = append(numbers, fmt.Sprint(n))
		}
		parts = append(parts, fmt.Sprintf("%s × %s (%s %s)", c.Algorithm, c.Fault, english.Noun(len(c.Runs), "run"), strings.Join(numbers, ", ")))
	}
	if more := len(cells) - most; more > 0 {
		parts = append(parts, english.Count(more, "more cell"))
	}
	return strings.Join(parts, ", ")
}

// removed removes the job, also where somebody does not want to wait any more.
func (c collecting) removed(cmd *cobra.Command) error {
	const bound = 15 * time.Second
	ctx := cmd.Context()
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), bound)
		defer cancel()
	}
	left, err := c.cluster.Remove(ctx, c.job.Name)
	if left != "" {
		note(cmd, []string{left})
	}
	return err
}
