package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/bench"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

// benchFlags are those of bench.
type benchFlags struct {
	cost.Plan
	algorithms string
	exec       string
	out        string
	ours       bool // out was not given
	json, yes  bool
}

// The budgets of a benchmark, servers and all.
const (
	wholeBudget = 195 * time.Second
	shortBudget = 40 * time.Second
)

// How far the intervals of figures that decide may reach for the benchmark to be done.
const (
	wholePrecision = .05
	shortPrecision = .10
)

func (p program) benchCommand() *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what locks cost",
		Long: `bench measures every lock on real servers, alone on the machine: what it costs when
nobody else wants it, as a time and as a multiple of the cheapest round trip to the same
server; how fast it goes from one client to another, and how fairly. All locks have their
turn in every round, and those that are not sure yet have further ones, so that medians,
intervals and ratios are of one run. Servers run twice: with what they confirm on the disk,
and without waiting for it. Locks that are programs in other languages are measured once,
in front of the rounds and beside the budget.`,
		Example: "  lockbench bench --algorithms 'redis-*,redlock' --rounds 10",
		Args:    exactly(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.bench(cmd, &b) },
	}
	f := cmd.Flags()
	execFlag(cmd, &b.exec)
	f.StringVar(&b.algorithms, "algorithms", "*", "comma-separated names or patterns")
	f.StringVar(&b.Baseline, "baseline", "", "the lock that ratios are to (default: redis-setpx-lua, or the first)")
	f.StringVar(&b.Lab, "lab", p.Labs[0].Name, "where the servers run: see lockbench list labs")
	f.StringVar(&b.Addrs, "addrs", "", "the servers of --lab external: HOST:PORT with commas between them, or a file")
	f.BoolVar(&b.yes, "yes", false, "remove without asking what an earlier run has left on the servers of --addrs")
	f.IntVar(&b.Rounds, "rounds", 8, "how often every lock has its turn at least; from 6 on there are intervals of 95%, and from 8 on compare can tell all locks from before")
	f.DurationVar(&b.Budget, "budget", 0, fmt.Sprintf("how long it takes, servers and all, but for programs (default: %v, with --short %v)", wholeBudget, shortBudget))
	f.DurationVar(&b.TTL, "ttl", 2*time.Second, "lease time")
	f.Float64Var(&b.Rate, "rate", 0, "an open loop, too: so many acquisitions a second of one lock, whether it keeps up or not")
	f.DurationSliceVar(&b.Distances, "latency", nil, "also where a round trip to the servers, and between them, takes so long at least: up to 4 times, with commas between them")
	f.BoolVar(&b.Short, "short", false, "only the cycle and the hand-off")
	f.Uint64Var(&b.Seed, "seed", 0, "seed of the order in each round (default: from the time, printed)")
	f.StringVar(&b.out, "out", "", "the directory to write (default: runs/<time>-…); may be that of a matrix")
	f.BoolVar(&b.json, "json", false, "one JSON object on standard output")
	return cmd
}

// completeBench fills in what was not given and refuses what can't work.
func (p program) completeBench(b *benchFlags) error {
	locks, err := pick(b.algorithms, p.Locks, func(l lb.Impl) string { return l.Info().Name }, p.Lock)
	if err != nil {
		return err
	}
	if b.algorithms == "*" {
		locks = slices.DeleteFunc(locks, p.isAbsent(b.Lab))
	}
	b.Groups = map[string]string{}
	for _, l := range locks {
		name := l.Info().Name
		b.Algorithms = append(b.Algorithms, name)
		if l.Info().Program {
			b.Programs = append(b.Programs, name)
		}
		if title := p.Groups[name]; title != "" {
			b.Groups[name] = title
		}
	}
	usually := wholeBudget
	b.Precision = wholePrecision
	if b.Short {
		usually, b.Precision = shortBudget, shortPrecision
	}
	b.Budget = cmp.Or(b.Budget, usually)
	const usual = "redis-setpx-lua"
	switch {
	case b.Baseline == "" && slices.Contains(b.Algorithms, usual):
		b.Baseline = usual
	case b.Baseline == "":
		b.Baseline = b.Algorithms[0]
	case !slices.Contains(b.Algorithms, b.Baseline):
		return usage("--baseline %s: it is not among the algorithms that are measured", b.Baseline)
	}
	switch {
	case b.Rounds < 1 || b.Rounds > 1000:
		return usage("--rounds %d: from 1 to 1000", b.Rounds)
	case b.Budget < time.Second || b.Budget > 24*time.Hour:
		return usage("--budget %v: from 1s to 24h", b.Budget)
	case b.TTL < 500*time.Millisecond || b.TTL > time.Minute:
		return usage("--ttl %v: from 500ms to 1m", b.TTL)
	case !(b.Rate >= 0 && b.Rate <= 1e6): // NaN is neither
		return usage("--rate %v: from 0 to 1000000", b.Rate)
	}
	if why := wrongDistances(b.Distances); why != "" {
		return usage("--latency %v: %s", b.Distances, why)
	}
	if len(b.Distances) > 0 && len(b.Programs) == len(b.Algorithms) {
		return usage("--latency: programs in other languages are not measured at a distance, and there is no other lock")
	}
	if b.Seed == 0 {
		b.Seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	if b.out == "" {
		b.out, b.ours = rundir.NewDir("bench"), true
	}
	return nil
}

// isAbsent says of a lock that nobody has asked for by its name whether its servers are an install of their own that is not there, or its library is
// not in this program.
func (p program) isAbsent(labName string) func(lb.Impl) bool {
	return func(l lb.Impl) bool {
		driver, err := p.Lab(labName, "")
		t, err2 := p.Topology(l.Info().Topologies[0])
		missing := !l.Info().Program && catalog.Ready(l) != nil // a program's turn says itself what it lacks
		return missing || err == nil && err2 == nil && driver.Absent(t.Kind) != nil
	}
}

// wrongDistances says what is wrong with them, or "".
func wrongDistances(all []time.Duration) string {
	const most, least, longest = 4, 100 * time.Microsecond, 200 * time.Millisecond // beyond, servers take too long to start
	switch {
	case len(all) > most:
		return fmt.Sprintf("at most %d", most)
	case !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) < len(all):
		return "each once, and the shortest first"
	case len(all) > 0 && (all[0] < least || all[len(all)-1] > longest):
		return fmt.Sprintf("each from %v to %v", least, longest)
	}
	return ""
}

func (p program) bench(cmd *cobra.Command, b *benchFlags) (err error) {
	if p, b.Exec, err = p.asked(cmd.Context(), b.exec); err != nil {
		return err
	}
	b.algorithms = withOwn(b.algorithms, b.Exec)
	if err := p.completeBench(b); err != nil {
		return err
	}
	driver, err := borrowed(p.Catalog, &b.Lab, b.Addrs, cmd.Flags().Changed("lab"))
	if err != nil {
		return err
	}
	if err := driver.Can(lab.OwnDisk); err != nil {
		return usage("bench: %w", err)
	}
	if len(b.Distances) > 0 {
		if err := driver.Can(lab.Distance); err != nil {
			return usage("--latency: %w", err)
		}
	}
	var topologies []string
	for _, name := range b.Algorithms {
		impl, err := p.Lock(name)
		if err != nil {
			return err
		}
		t, err := bench.Topology(p.Catalog, driver, impl)
		if err != nil {
			return usage("%w", err)
		}
		topologies = append(topologies, t.Name)
	}
	slices.Sort(topologies)
	if err := p.ready(cmd.Context(), driver, slices.Compact(topologies), lab.Own{}, b.yes); err != nil {
		return err
	}
	dir, err := filepath.Abs(b.out)
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	board := progress.New(stderr)
	board.Say("%s, %s in about %v%s, seed %d, into %s", english.Count(len(b.Algorithms), "algorithm"), english.Count(b.Rounds, "round"), b.Budget, beyond(b.Plan), b.Seed, b.out)
	at := newPhases(board)
	d, failed := bench.Execute(cmd.Context(), p.Catalog, dir, b.Plan, func(now *cost.Bench) {
		at.tell(benchProgress(now))
	})
	at.close()
	if errors.Is(failed, fs.ErrExist) || d == nil {
		return failed // what is there is another's
	}
	page, noPage := pageOf(cmd.Context(), b.out)
	if b.ours {
		if err := rundir.Latest(b.out); err != nil {
			fmt.Fprintln(stderr, "note:", err)
		}
	}
	err = b.show(cmd, d.Bench)
	if noPage == nil {
		fmt.Fprintf(stderr, "report: %s\n", page)
	}
	return errors.Join(failed, noPage, err)
}

// beyond says how much longer the distances take.
func beyond(p cost.Plan) string {
	if d := bench.FarBudget(p); d > 0 {
		return fmt.Sprintf(" and %v more for the distances", d)
	}
	return ""
}

// benchProgress says what was measured last, and how sure the figures are.
func benchProgress(b *cost.Bench) string {
	if n := len(b.Far); n > 0 {
		at := "near by, to hold the distances against"
		if d := b.Far[n-1].RoundTrip; d > 0 {
			at = fmt.Sprintf("at a distance of %v", d)
		}
		return fmt.Sprintf("%s: round %d of %d is done", at, b.Far[n-1].Rounds, cost.FarRounds)
	}
	switch all := len(b.Judge()); {
	case b.Rounds == 0 || all == 0 && b.Programs > 0:
		return fmt.Sprintf("%d of %s had its turn", b.Programs, english.Count(len(b.Plan.Programs), "program"))
	case all == 0:
		return fmt.Sprintf("round %d is done", b.Rounds)
	case b.Rounds <= b.Plan.Rounds:
		return fmt.Sprintf("round %d of %d is done: %d of %s that decide are sure", b.Rounds, b.Plan.Rounds, all-len(b.Unsure()), english.Count(all, "figure"))
	default:
		return fmt.Sprintf("round %d, of what was not sure, is done: %d of %s are now", b.Rounds, all-len(b.Unsure()), english.Count(all, "figure"))
	}
}

// show writes the benchmark for people or for programs. It has no data where nothing was
// measured of a lock.
func (b *benchFlags) show(cmd *cobra.Command, what *cost.Bench) (err error) {
	if b.json {
		err = printJSON(cmd.OutOrStdout(), what)
	} else {
		err = reports.Bench(cmd.OutOrStdout(), what)
	}
	if len(what.Blank()) > 0 {
		err = errors.Join(err, exit{exitUndecided, nil})
	}
	return err
}
