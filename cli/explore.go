package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/spf13/cobra"
)

// exploring is the verb explore at work.
type exploring struct {
	program
	plan   explore.Plan
	exec   string
	locks  string
	replay string
	out    string
	ours   bool // out was not given
	matrix string
	json   bool

	impls []lb.Impl
}

func (prog program) exploreCommand() *cobra.Command {
	x := exploring{program: prog, plan: explore.Plan{Bounds: explore.Default}}
	cmd := &cobra.Command{
		Use:   "explore --algorithm A",
		Short: "Walk every order of a few clients' moves, and judge each",
		Long: `explore has two clients (or three) use a lock on a real server, and lets one of their moves
happen at a time: a request with its answer, the work under the lock, and what goes wrong:
the end of a lease, a crash, a lost reply, the session of a waiting client that somebody ends, or
a caller that gives up.
It walks every order in which these can reach the server, up to the bounds of the flags, first
without faults, then with one, and so on. Each order is a history, and the checkers that judge
every run judge it. Time is the bench's: no order waits for a lease.

A run tries what happens to happen; this tries all that can, for a few moves. Orders that
differ only in moves which have nothing to do with each other are walked once, and so is what
follows a moment that several come to: where all that the clients, the server and the store
know is the same, and what will be judged of the past. --budget is how many orders there are
at most, and how many beside these end because they are known; what share of all was walked
is said.

What broke the lock lies in violations/ of the directory, the shortest of each kind, as a
run with a page. --replay performs it again, --times over: the same moves in the same order.

Only a lab with servers of its own can be explored, beside which programs of this machine
run, as the local lab.

Exit codes: 0 no order breaks it, or only as it declares (the answer says what), 1 some
order does, 2 it proves nothing, since more than 1% of the orders did not go as planned, one
that broke it did not do so again, or no lease could end for a program whose clock does not
follow the bench's, 4 this machine can't run it, 64 usage, 130 interrupted: what was walked
until then is kept, and what broke the lock as it was found.
With --replay: 0 it did not break, 1 it did, 2 it could not be performed or judged, even once.`,
		Example: `  lockbench explore --algorithm redis-setpx-lua --faults 0
  lockbench explore --algorithm redis-setnx-expire,redis-setpx-del --acquisitions 1
  lockbench explore --algorithm etcd-lease --acquisitions 1 --crashes 0 --budget 200 --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return x.run(cmd) },
	}
	f, b := cmd.Flags(), &x.plan.Bounds
	execFlag(cmd, &x.exec)
	f.StringVar(&x.locks, "algorithm", "", "comma-separated names or patterns: see lockbench list algorithms")
	f.StringVar(&x.plan.Topology, "topology", "", "the lock service (default: the lock's first)")
	f.StringVar(&x.plan.Lab, "lab", prog.Labs[0].Name, "where the servers run: see lockbench list labs")
	f.StringVar(&x.plan.Workload, "workload", "", "what clients do with the lock: "+strings.Join(explore.Workloads(), ", ")+" (default "+explore.Workloads()[0]+")")
	f.IntVar(&b.Clients, "clients", b.Clients, "clients")
	f.IntVar(&b.Acquisitions, "acquisitions", b.Acquisitions, "how often each client acquires the lock")
	f.IntVar(&b.Polls, "polls", b.Polls, "how often it asks again for one acquisition")
	f.IntVar(&b.Renewals, "renewals", b.Renewals, "how often it renews its leases")
	f.IntVar(&b.Expiries, "expiries", b.Expiries, "how often leases end, in one order")
	f.IntVar(&b.Crashes, "crashes", b.Crashes, "how many clients die")
	f.IntVar(&b.Lost, "lost", b.Lost, "how many answers are lost")
	f.IntVar(&b.Ended, "ended", b.Ended, "how many sessions of clients that wait somebody ends, of locks that have sessions")
	f.IntVar(&b.Quits, "quits", b.Quits, "how many callers give up while they ask for the lock")
	f.IntVar(&b.Faults, "faults", b.Faults, "how many of these five together, at most")
	f.IntVar(&x.plan.Budget, "budget", 5000, "orders to walk at most, of each lock")
	f.Uint64Var(&x.plan.Seed, "seed", 1, "of what is drawn where the budget does not suffice")
	f.BoolVar(&x.plan.Reuse, "reuse", false, "programs live on from order to order: many times faster, and what they keep in memory is not walked")
	f.StringVar(&x.out, "out", "", "the directory to write (default: runs/<time>-explore-…; none for --replay)")
	f.StringVar(&x.matrix, "matrix", "", "the directory of a matrix to write into, whose page then tells of it")
	f.StringVar(&x.replay, "replay", "", "the order to perform again: a schedule.json, or the directory with it")
	f.IntVar(&x.plan.Times, "times", 1, "how often --replay performs it")
	f.BoolVar(&x.json, "json", false, "one JSON object a lock on standard output")
	return cmd
}

func (x *exploring) run(cmd *cobra.Command) (err error) {
	if err := x.sense(cmd); err != nil {
		return err
	}
	if x.replay != "" {
		err = x.scheduled(cmd)
	} else {
		err = x.chosen(cmd)
	}
	if err != nil {
		return err
	}
	if err := x.canRun(cmd); err != nil {
		return err
	}
	return x.all(cmd)
}

// sense refuses flags that make none.
func (x *exploring) sense(cmd *cobra.Command) error {
	given := func(names ...string) string {
		for _, n := range names {
			if cmd.Flags().Changed(n) {
				return n
			}
		}
		return ""
	}
	if own := given("algorithm", "exec", "topology", "lab", "workload", "clients", "acquisitions", "polls", "renewals", "expiries", "crashes", "lost", "ended", "quits", "faults", "budget", "seed", "reuse", "matrix"); x.replay != "" && own != "" {
		return usage("--replay performs the order that %s has: leave out --%s", x.replay, own)
	}
	err := x.plan.Bounds.Check()
	switch {
	case x.replay == "" && given("times") != "":
		return usage("--times without --replay: an exploration walks each order once")
	case x.plan.Times < 1:
		return usage("--times %d: at least 1", x.plan.Times)
	case x.replay != "":
	case x.locks == "" && x.exec == "":
		return usage("--algorithm is missing; lockbench list algorithms says which there are, and --exec takes one that is a program of yours")
	case x.locks != "" && x.exec != "":
		return usage("--algorithm %s and --exec: one of them", x.locks)
	case x.out != "" && x.matrix != "":
		return usage("--out and --matrix: one of them")
	case err != nil:
		return usage("--%w", err)
	case x.plan.Budget < 1:
		return usage("--budget %d: at least 1", x.plan.Budget)
	}
	return nil
}

// chosen finds the locks that are to be explored, and where what is found goes.
func (x *exploring) chosen(cmd *cobra.Command) (err error) {
	name := func(l lb.Impl) string { return l.Info().Name }
	if x.program, x.plan.Exec, err = x.asked(cmd.Context(), x.exec); err != nil {
		return err
	}
	what := x.locks
	if x.plan.Exec != nil {
		x.locks, what = x.plan.Exec.Name, x.plan.Exec.Name
	}
	if x.impls, err = pick(x.locks, x.Locks, name, x.Lock); err != nil {
		return err
	}
	// A pattern means those that can be explored; who names a lock is told.
	if can := slices.DeleteFunc(slices.Clone(x.impls), asksByItself); len(can) > 0 && strings.ContainsAny(x.locks, "*?[") {
		x.impls = can
	}
	for _, l := range x.impls {
		if asksByItself(l) {
			return usage("%s can't be explored: its library waits by a clock of its own until it asks again, and nobody here lets that time pass", l.Info().Name)
		}
		if err := x.runsOn(x.plan.Topology, l.Info()); err != nil {
			return err
		}
		if err := x.plan.Fits(l.Info()); err != nil {
			return usage("--workload: %w", err)
		}
	}
	if x.matrix != "" {
		return x.beside()
	}
	if x.ours = x.out == ""; x.ours {
		x.out = rundir.NewDir("explore-" + what)
	}
	return x.fresh()
}

// asksByItself says of a lock that polls that it does so behind its clients' backs, since they can't try. The clocks of
// programs are moved.
func asksByItself(l lb.Impl) bool {
	i := l.Info()
	return i.NoTry && !i.Traits.Push && !i.Program
}

// fresh wants a directory that is not there.
func (x *exploring) fresh() error {
	if _, err := os.Lstat(x.out); err == nil {
		return usage("%s is there: --out must not be", x.out)
	}
	if err := creatable(x.out); err != nil {
		return usage("--out %s: %w", x.out, err)
	}
	return nil
}

// beside wants a matrix to write into.
func (x *exploring) beside() error {
	kind, err := rundir.Kind(x.matrix)
	switch {
	case err != nil:
		return usage("--matrix: %w", err)
	case kind != rundir.IsMatrix:
		return usage("--matrix: %s is %s: lockbench matrix makes one%s", x.matrix, kind.One(), rundir.OtherLatest(x.matrix, rundir.IsMatrix))
	}
	if err := rundir.Writable(x.matrix); err != nil {
		return usage("--matrix: %w", err)
	}
	return nil
}

// scheduled takes the plan from the order that is to be performed again.
func (x *exploring) scheduled(*cobra.Command) (err error) {
	var s explore.Schedule
	if err := rundir.ReadSchedule(x.replay, &s); err != nil {
		return usage("--replay: %w; explore leaves a %s with each order that broke the lock", err, filepath.Join("violations", "N-CLASS", rundir.ScheduleFile))
	}
	times := x.plan.Times
	x.plan = s.Plan
	x.plan.Replay, x.plan.Times = &s, times
	if x.Catalog, err = x.With(s.Plan.Exec); err != nil {
		return usage("%w", err)
	}
	impl, err := named(x.Lock(s.Plan.Algorithm))
	x.impls = []lb.Impl{impl}
	if err != nil || x.out == "" {
		return err
	}
	return x.fresh()
}

// canRun says whether this machine has what the explorations need.
func (x *exploring) canRun(cmd *cobra.Command) error {
	driver, err := named(x.Lab(x.plan.Lab, ""))
	if err != nil {
		return err
	}
	for _, needs := range []lab.Ability{lab.ServerClocks, lab.Programs} {
		if err := driver.Can(needs); err != nil && !slices.Contains(driver.Claims, needs) {
			return usage("--lab %s can't be explored: %w; --lab %s can", x.plan.Lab, err, x.Labs[0].Name)
		} else if err != nil {
			return exit{exitCantRun, fmt.Errorf("this machine can't run it: %w", err)}
		}
	}
	var topologies []string
	for _, l := range x.impls {
		if err := catalog.Ready(l); err != nil {
			return exit{exitCantRun, err}
		}
		t, err := named(x.Topology(x.topology(l)))
		if err != nil {
			return err
		}
		if t.Sentinels > 0 {
			return usage("--topology %s can't be explored: its clients ask the Sentinels for their server, and reach it past the bench", t.Name)
		}
		topologies = append(topologies, t.Name)
	}
	return x.ready(cmd.Context(), driver, topologies, lab.Own{}, false)
}

func (x *exploring) topology(l lb.Impl) string {
	if x.plan.Topology != "" {
		return x.plan.Topology
	}
	return l.Info().Topologies[0]
}

// all explores one lock after the other. What goes wrong with one keeps no other from its turn.
// The directory is held all the time, so that nobody takes what is there of the first for all.
func (x *exploring) all(cmd *cobra.Command) (err error) {
	if at := cmp.Or(x.matrix, x.out); at != "" {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		defer os.Remove(at) // which it can only if nothing was written
		defer rundir.Hold(at)()
	}
	wrote := false
	for _, l := range x.impls {
		plan := x.plan
		plan.Algorithm, plan.Topology = l.Info().Name, x.topology(l)
		if !l.Info().Traits.Session {
			plan.Bounds.Ended = 0 // there are none
		}
		r, failed := x.one(cmd, plan)
		interrupted := failed != nil && cmd.Context().Err() != nil
		if failed != nil && !interrupted {
			err = worse(err, fmt.Errorf("%s: %w", plan.Algorithm, failed))
			continue
		}
		if r != nil { // of one that was interrupted, what was walked until then
			r.Declare(l.Info())
			dir, notKept := x.keep(l, r)
			wrote = wrote || dir != ""
			err = worse(err, errors.Join(notKept, x.show(cmd, dir, r)))
		}
		if interrupted {
			err = failed
			break
		}
	}
	if !wrote {
		return err
	}
	return worse(err, x.page(cmd))
}

// one explores one lock, and says on standard error how far it is.
func (x *exploring) one(cmd *cobra.Command, plan explore.Plan) (*explore.Result, error) {
	board := newFar(cmd.ErrOrStderr(), plan)
	began := time.Now()
	r, err := explore.Execute(cmd.Context(), x.Catalog, plan, board.at)
	board.over(r, time.Since(began))
	return r, err
}
