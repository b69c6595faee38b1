package cli

import (
	"context"
	"runtime"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// matrixFlags say what to run. The file of a gate says it by the same names.
type matrixFlags struct {
	planFlags
	algorithms, faults string
	beside             string // a correct lock, beside a program of the user's
	runs, jobs         int
	until              share
	budget             time.Duration
	shard, resume      string // of the verb matrix alone
}

func (f *matrixFlags) add(cmd *cobra.Command, c Catalog) {
	f.planFlags.add(cmd, c, 2*time.Second)
	flags := cmd.Flags()
	flags.StringVar(&f.algorithms, "algorithms", "*", "comma-separated names or patterns")
	flags.StringVar(&f.faults, "faults", "*", "comma-separated names or patterns, or as NAME[@STEP][/LENGTH]")
	flags.IntVar(&f.runs, "runs", 1, "runs of each cell, with seeds that count up")
	flags.IntVar(&f.jobs, "jobs", atOnceHere(), "runs at the same time, each in a lab of its own; by default two for each processor, twelve at most")
	flags.Lookup("jobs").DefValue = "0" // which is not the same everywhere
	flags.Var(&f.until, "until", "go on until each cell's interval is narrower than this share, such as 20% or 0.2")
	flags.Lookup("until").DefValue = "0" // which help does not tell

	flags.DurationVar(&f.budget, "budget", 0, "begin no run after this time, the most doubtful cells first")
}

func (prog program) matrixCommand() *cobra.Command {
	var f matrixFlags
	var k clusterFlags
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Put many locks under many faults",
		Long: `matrix puts each of the algorithms under each of the faults, --runs times, and shows
what it takes to be safe there. Run K of a cell has the seed of the first plus K-1,
whoever does it, so that it can be made again, elsewhere and alone.

How sure a cell is depends on its runs. --until 20% goes on until the 95% interval
of the share of runs that broke is narrower than that in every cell, the most doubtful
first; --budget 30m begins no run after that time. Both may be given, and then --runs is
how many each cell has at least.

--shard 2/3 does the second of three parts, each on a machine of its own; lockbench report
joins their directories into one page. A hazard that is known may not show in the few runs
of one shard, which then ends with 1: the exit codes of lockbench gate and of lockbench
report --json, with the directories of all, are those of the whole. --resume DIR goes on
with a matrix that was interrupted: what came to its end is kept, and what did not is set
aside and run again. With --runs, --until or --budget it goes on with one that is finished,
too.

--on kubernetes has all shards done as pods of one job, brings what they recorded into one
directory, and ends as on one machine. --dry-run prints the job's manifest instead; once
somebody has applied it, --follow JOB collects what comes of it.`,
		Example: `  lockbench matrix --algorithms 'redis-*,etcd-lease' --faults none,pause-holder --runs 3
  lockbench matrix --algorithms redis-setpx-lua --faults 'kill-*' --until 30% --budget 30m
  lockbench matrix --seed 7 --runs 6 --shard 1/3 --out shard-1
  lockbench matrix --resume runs/latest-matrix
  lockbench matrix --on kubernetes --shards 6 --runs 20 --algorithms 'redis-*'`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("until") && f.until == 0 {
				return usage("--until 0: no number of runs makes an interval that narrow; a share from 0.01 to 1, or leave it out")
			}
			if there, err := k.asked(cmd, ofCluster...); err != nil {
				return err
			} else if there {
				return prog.matrixOnCluster(cmd, &f, &k)
			}
			if f.resume != "" {
				return prog.resumeMatrix(cmd, &f)
			}
			m, err := prog.matrix(cmd.Context(), &f, "matrix")
			if err != nil {
				return err
			}
			if err := f.part(m); err != nil {
				return err
			}
			return prog.finishMatrix(cmd, m, &f, func() ([]checker.Cell, error) { return m.Run(cmd.Context(), f.out) })
		},
	}
	f.add(cmd, prog.Catalog)
	cmd.Flags().StringVar(&f.shard, "shard", "", "do only this part of the runs, as NTH/OF, such as 2/3")
	cmd.Flags().StringVar(&f.resume, "resume", "", "go on with the matrix in this directory")
	f.ci.add(cmd, true)
	k.add(cmd.Flags())
	return cmd
}

// bounds refuses what can't be done.
func bounds(m *run.Matrix) error {
	switch {
	case m.Runs < 1:
		return usage("--runs %d: at least 1", m.Runs)
	case m.Jobs < 1:
		return usage("--jobs %d: at least 1", m.Jobs)
	case m.Until != 0 && !(m.Until >= 0.01 && m.Until <= 1):
		return usage("--until %v: a share from 0.01 (some 10000 runs of a cell) to 1", m.Until)
	case m.Budget < 0:
		return usage("--budget %v: at least 0", m.Budget)
	}
	return nil
}

// matrix is what the flags say, completed. A new directory of ours is named after what it
// is.
func (prog program) matrix(ctx context.Context, f *matrixFlags, what string) (m *run.Matrix, err error) {
	if prog, err = f.asked(ctx, prog); err != nil {
		return nil, err
	}
	if f.exec != "" && f.algorithms == "*" && what == "matrix" {
		f.beside = prog.beside(f.Plan.Exec, f.Topology)
	}
	f.algorithms = withOwn(f.algorithms, f.Plan.Exec)
	if f.beside != "" {
		f.algorithms += "," + f.beside
	}
	m = &run.Matrix{Catalog: prog.Catalog, Runs: f.runs, Jobs: f.jobs, Until: float64(f.until), Budget: f.budget}
	if m.Algorithms, err = pick(f.algorithms, prog.Locks, func(l lb.Impl) string { return l.Info().Name }, prog.Lock); err != nil {
		return nil, err
	}
	if m.Faults, err = pick(f.faults, prog.Faults, func(f faults.Fault) string { return f.Name }, prog.Fault); err != nil {
		return nil, err
	}
	if err := bounds(m); err != nil {
		return nil, err
	}
	if err := f.complete(prog.Catalog, what); err != nil {
		return nil, err
	}
	if err := f.meet(m.Faults...); err != nil {
		return nil, err
	}
	m.Base, m.Workload = f.Plan, f.work
	m.Jobs = jobs(f.driver, m.Jobs)
	for _, a := range m.Algorithms {
		if err := prog.runsOn(f.Topology, a.Info()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// jobs is how many runs are done at a time. Servers that are borrowed are one set.
func jobs(d lab.Driver, wanted int) int {
	if d.Borrowed != nil {
		return 1
	}
	return wanted
}

// atOnceHere is how many runs this machine carries at a time: most of what they do is to wait.
func atOnceHere() int { return atOnceOn(runtime.GOMAXPROCS(0)) }

func atOnceOn(processors int) int { return min(2*processors, 12) }

// part is the shard of the matrix that is to be done.
func (f *matrixFlags) part(m *run.Matrix) (err error) {
	if f.shard == "" {
		return nil
	}
	m.Shard, err = f.sharded(f.shard)
	return err
}

// resumeMatrix takes the plan from the directory, and what goes beyond it from the flags.
func (prog program) resumeMatrix(cmd *cobra.Command, f *matrixFlags) (err error) {
	flags := cmd.Flags()
	flags.Visit(func(given *pflag.Flag) {
		if !slices.Contains([]string{"resume", "runs", "jobs", "until", "budget", "json", "junit", "csv", "summary", "yes"}, given.Name) {
			err = usage("--resume goes on with the plan that %s has: leave out --%s", f.resume, given.Name)
		}
	})
	if err != nil {
		return err
	}
	if kind, err := rundir.Kind(f.resume); err != nil {
		return usage("%w", err)
	} else if kind != rundir.IsMatrix {
		return usage("%s is %s: only a matrix can be resumed%s", f.resume, kind.One(), rundir.OtherLatest(f.resume, rundir.IsMatrix))
	}
	out, err := rundir.OpenMatrix(f.resume)
	if err != nil {
		return err
	}
	if err := rundir.Writable(f.resume); err != nil {
		return usage("%w", err)
	}
	m := &run.Matrix{Catalog: prog.Catalog, Jobs: f.jobs, Budget: f.budget}
	if _, err := named(m, m.Again(out)); err != nil {
		return err
	}
	if own := m.Base.Exec; own != nil {
		prog.Catalog = m.Catalog
		if name := prog.beside(own, m.Base.Topology); slices.ContainsFunc(m.Algorithms, func(l lb.Impl) bool { return l.Info().Name == name }) {
			f.beside = name
		}
	}
	if flags.Changed("runs") {
		m.Runs = f.runs
	}
	if flags.Changed("until") {
		if m.Shard.Of > 0 && m.Until == 0 {
			return usage("%s is shard %s of a matrix without --until: its cells are divided among the shards", f.resume, m.Shard)
		}
		m.Until = float64(f.until)
	}
	if err := bounds(m); err != nil {
		return err
	}
	if f.driver, err = named(prog.Lab(m.Base.Lab, m.Base.Addrs)); err != nil {
		return err
	}
	m.Jobs = jobs(f.driver, m.Jobs)
	if f.store = m.Base.Store; f.store == "" {
		f.store = inMemory
	}
	f.work, f.Plan, f.out = m.Workload, m.Base, f.resume
	if err := f.keep(prog.Catalog); err != nil {
		return err
	}
	return prog.finishMatrix(cmd, m, f, func() ([]checker.Cell, error) { return m.Resume(cmd.Context(), out) })
}

// finishMatrix does the runs and shows what came of them.
func (prog program) finishMatrix(cmd *cobra.Command, m *run.Matrix, f *matrixFlags, do func() ([]checker.Cell, error)) error {
	cells, err := prog.runMatrix(cmd, m, f, do)
	if cells == nil {
		return err
	}
	err = finish(cmd, &f.planFlags, below(f.out, cells), m.Runs, err)
	if f.beside != "" {
		tellWhose(cmd.ErrOrStderr(), f.Plan.Exec.Name, f.beside, cells)
	}
	return err
}

// canRun says whether this machine has what all runs of the matrix need. Rows whose servers are an install of their own
// are n/a without it, unless there is no other row.
func (prog program) canRun(ctx context.Context, p *planFlags, m *run.Matrix) error {
	var topologies, absent []string
	for _, a := range m.Algorithms {
		for _, f := range m.Faults {
			plan := m.For(a, f, 0)
			if t, err := prog.Servers(plan); err == nil && p.driver.Absent(t.Kind) != nil {
				absent = append(absent, plan.Topology)
			} else {
				topologies = append(topologies, plan.Topology)
			}
		}
	}
	if len(topologies) == 0 {
		topologies = absent
	}
	return prog.readyFor(ctx, p, topologies...)
}

// runMatrix has the runs done, and says on standard error how far they are. There are no
// cells where none could begin.
func (prog program) runMatrix(cmd *cobra.Command, m *run.Matrix, f *matrixFlags, do func() ([]checker.Cell, error)) ([]checker.Cell, error) {
	if err := prog.canRun(cmd.Context(), &f.planFlags, m); err != nil {
		return nil, err
	}
	board := progress.New(cmd.ErrOrStderr())
	board.Say("%s", plannedText(m, f, 0))
	w := newWatch(board, m.Budget, m.Until)
	m.Watch = w.see
	cells, err := do()
	w.close()
	if cells == nil {
		return nil, err
	}
	if cmd.Context().Err() != nil {
		board.Say("the report is of what was done until now; the rest: %s", shellLine("matrix", "--resume", f.out))
	} else {
		sayWide(board, cells, m.Until, "to go on: "+shellLine("matrix", "--resume", f.out))
	}
	return cells, err
}
