package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/shrink"
	"github.com/spf13/cobra"
)

// shrinking is the verb shrink at work.
type shrinking struct {
	program
	tries  int
	budget time.Duration
	out    string

	run     *rundir.Run
	matrix  run.Matrix
	outcome lb.Outcome // what must be seen again, by this mechanism
	how     string
	board   *progress.Board
	until   time.Time
	scratch string // holds the runs that were tried
	runs    int    // so many
	best    string // the directory of the smallest that showed it, "" for none
}

// errOver ends a search that has taken long enough.
var errOver = errors.New("the time is over")

func (prog program) shrinkCommand() *cobra.Command {
	s := shrinking{program: prog}
	cmd := &cobra.Command{
		Use:   "shrink DIR",
		Short: "Find the smallest run that still shows what went wrong",
		Long: `shrink takes the directory of a run that showed a violation, and does it again and again
with less: without faults, with those that were in force when it showed, with fewer and
fewer of all that had struck until then, in their order; then with fewer of them at once,
fewer clients and processes, for a shorter time. Of a mix, as random is, it makes a list.

What counts is the same outcome by the same mechanism. A run that shows it by chance shows
it in one of a few: each is tried up to --tries times, with seeds that count up. After
--budget no run is begun, and the smallest until then is what there is.

Standard output is the command that shows it; the run that did lies where --out says.

Exit codes: 0 it was shown again, 2 it was not, 4 this machine can't run it, 64 usage, 130
interrupted.`,
		Example: `  lockbench shrink runs/latest
  lockbench shrink runs/latest --tries 5 --budget 1h --out smallest`,
		Args: exactly(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, dirs []string) error { return s.all(cmd, dirs[0]) },
	}
	f := cmd.Flags()
	f.IntVar(&s.tries, "tries", 3, "how often each smaller run is tried, until it shows the violation")
	f.DurationVar(&s.budget, "budget", 15*time.Minute, "begin no run after this time")
	f.StringVar(&s.out, "out", "", "the directory of the smallest run (default: runs/<time>-shrink-…)")
	return cmd
}

func (s *shrinking) all(cmd *cobra.Command, dir string) error {
	switch {
	case s.tries < 1:
		return usage("--tries %d: at least 1", s.tries)
	case s.budget <= 0:
		return usage("--budget %v: more than 0", s.budget)
	}
	struck, guess, err := s.read(cmd.Context(), dir)
	if err != nil {
		return err
	}
	ours := s.out == ""
	if ours {
		s.out = rundir.NewDir("shrink-" + s.run.Plan.Algorithm)
	}
	if err := s.prepare(cmd.Context()); err != nil {
		return err
	}
	defer os.RemoveAll(s.scratch)
	s.board, s.until = progress.New(cmd.ErrOrStderr()), time.Now().Add(s.budget)
	s.board.Say("%s × %s: %s, %s; up to %s each, for %v", s.run.Plan.Algorithm, s.run.Plan.Fault, s.outcome, cmp.Or(s.how, "no mechanism named"), english.Count(s.tries, "try"), s.budget)
	whole := caseOf(s.run.Plan, []string{s.run.Plan.Fault})
	small := whole
	if len(struck) > 0 { // where they are known one by one, they need not go on for as long as a mix did
		const long = 5 * time.Second
		small = caseOf(s.run.Plan, struck)
		small.Duration, small.AtOnce = min(small.Duration, long), min(small.AtOnce, len(struck))
	}
	shows := func(c shrink.Case) (bool, error) { return s.shows(cmd.Context(), c) }
	_, shown, err := shrink.Smallest(small, guess, shows)
	if !shown && err == nil { // those that struck do not do it; what drew them may
		_, shown, err = shrink.Smallest(whole, nil, shows)
	}
	s.board.Close()
	if err != nil && !errors.Is(err, errOver) {
		if s.best != "" { // what was found until then
			err = errors.Join(err, s.keep(cmd, ours))
		}
		return err
	}
	if !shown {
		more := "it may need more --tries"
		if err != nil { // the time was over
			more = "it may need a larger --budget"
		}
		return exit{exitUndecided, fmt.Errorf("%s was not shown again, in %s within %v: %s", s.outcome, english.Count(s.runs, "run"), s.budget, more)}
	}
	return s.keep(cmd, ours)
}

// read finds out what the run showed, the faults that had struck by then, and those that
// were in force when it showed.
func (s *shrinking) read(ctx context.Context, dir string) (struck, guess []string, err error) {
	if kind, err := rundir.Kind(dir); err != nil {
		return nil, nil, usage("%w", err)
	} else if kind != rundir.IsRun {
		return nil, nil, usage("%s is %s", dir, oneRun(dir, kind))
	}
	if s.run, err = rundir.OpenRun(dir); err != nil {
		return nil, nil, err
	}
	if s.Catalog, err = s.With(s.run.Plan.Exec); err != nil {
		return nil, nil, usage("%w", err)
	}
	res, err := run.Judge(ctx, s.Catalog, s.run)
	if err != nil {
		return nil, nil, err
	}
	if s.outcome, s.how = seen(res); s.outcome == "" {
		return nil, nil, usage("%s shows no violation: it is %s", dir, res.Outcome)
	}
	ix, err := s.run.History(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := ix.Last
	if res.FirstViolationMS >= 0 {
		at = ix.Start.Add(time.Duration(res.FirstViolationMS * float64(time.Millisecond)))
	}
	for i := range ix.Faults {
		f := &ix.Faults[i]
		if !f.Struck || f.Strike > at {
			continue
		}
		struck = append(struck, f.Name)
		if f.Healed > at.Add(-time.Second) { // what it left may come after it
			guess = append(guess, f.Name)
		}
	}
	return struck, guess, nil
}

// seen is the violation that a result tells of: its outcome, "" for none, and the mechanism.
func seen(res checker.Result) (outcome lb.Outcome, how string) {
	if !slices.Contains([]lb.Outcome{lb.Broken, lb.Fence, lb.Stuck, lb.Check}, res.Outcome) {
		return "", ""
	}
	c := checker.CellOf([]checker.Result{res})
	return res.Outcome, c.Mechanism
}

func caseOf(p history.Plan, faults []string) shrink.Case {
	return shrink.Case{Faults: faults, AtOnce: max(1, p.FaultsAtOnce), Clients: p.Clients, Processes: p.Processes, Duration: p.Duration}
}

// prepare finds what the runs need.
func (s *shrinking) prepare(ctx context.Context) error {
	work, err := named(s.Workload(s.run.Plan.Workload))
	if err != nil {
		return err
	}
	driver, err := named(s.Lab(s.run.Plan.Lab, s.run.Plan.Addrs))
	if err != nil {
		return err
	}
	s.matrix = run.Matrix{Catalog: s.Catalog, Workload: work, Base: s.run.Plan}
	p := s.run.Plan
	if err := s.ready(ctx, driver, []string{p.Topology}, catalog.Own(p), false); err != nil {
		return err
	}
	if _, err := os.Lstat(s.out); err == nil {
		return usage("%s is there: --out must not be", s.out)
	}
	s.scratch = s.out + ".tries"
	return os.MkdirAll(s.scratch, 0o755)
}

// plan is that of a case, tried for the nth time, from 0.
func (s *shrinking) plan(c shrink.Case, n int) (history.Plan, error) {
	impl, err := named(s.Lock(s.run.Plan.Algorithm))
	if err != nil {
		return history.Plan{}, err
	}
	fault, err := named(s.Fault(cmp.Or(strings.Join(c.Faults, ","), "none")))
	if err != nil {
		return history.Plan{}, err
	}
	m := s.matrix
	m.Base.FaultsAtOnce, m.Base.Clients, m.Base.Processes, m.Base.Duration, m.Base.First = c.AtOnce, c.Clients, c.Processes, c.Duration, true
	plan := m.For(impl, fault, n)
	return plan, m.Available(plan, fault)
}

// shows tries the case until it shows the violation.
func (s *shrinking) shows(ctx context.Context, c shrink.Case) (bool, error) {
	failed := 0
	for n := range s.tries {
		if time.Now().After(s.until) {
			return false, errOver
		}
		plan, err := s.plan(c, n)
		if err != nil {
			return false, err
		}
		s.runs++
		dir := filepath.Join(s.scratch, fmt.Sprint(s.runs))
		res, err := run.Watched(ctx, s.Catalog, dir, plan, func(phase string) {
			s.board.Show(fmt.Sprintf("run %d, try %d: %s: %s", s.runs, n+1, told(c), phase))
		})
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil {
			failed++
			s.board.Say("a run failed, and shows nothing: %v", err)
		}
		if outcome, how := seen(res); err == nil && outcome == s.outcome && how == s.how {
			s.board.Say("%s still shows it", told(c))
			old := s.best
			s.best = dir
			return true, os.RemoveAll(old)
		}
		if err := os.RemoveAll(dir); err != nil {
			return false, err
		}
	}
	if failed == s.tries {
		s.board.Say("%s: nothing is known, all %s failed", told(c), english.Count(s.tries, "try"))
	} else {
		s.board.Say("%s does not, in %s", told(c), english.Count(s.tries-failed, "try"))
	}
	return false, nil
}

// told is a case in words.
func told(c shrink.Case) string {
	var faults string
	switch n := len(c.Faults); n {
	case 0:
		faults = "no fault"
	case 1, 2, 3:
		faults = strings.Join(c.Faults, ", ")
	default:
		faults = english.Count(n, "fault")
	}
	if c.AtOnce > 1 {
		faults += fmt.Sprintf(" (%d at once)", c.AtOnce)
	}
	return fmt.Sprintf("%s, %s in %s, %v", faults, english.Count(c.Clients, "client"), english.Count(c.Processes, "process"), c.Duration)
}

// keep makes the smallest run the one at --out, and says how to do it again.
func (s *shrinking) keep(cmd *cobra.Command, ours bool) error {
	if err := os.Rename(s.best, s.out); err != nil {
		return err
	}
	p := planFlags{out: s.out, ours: ours}
	tell, noPage := leave(cmd, &p)
	r, err := rundir.OpenRun(s.out)
	if err != nil {
		return err
	}
	s.board.Say("the smallest of %s is in %s", english.Count(s.runs, "run"), s.out)
	tell()
	_, err = fmt.Fprintln(cmd.OutOrStdout(), again(r.Plan))
	return errors.Join(err, noPage)
}
