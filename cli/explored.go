package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

// far says how far an exploration is.
type far struct {
	*progress.Board
	plan explore.Plan
	said *time.Time // when a line that stays was last written
}

// often is how often a line that stays says how far it is, off a terminal.
const often = 10 * time.Second

func newFar(w io.Writer, plan explore.Plan) far {
	now := time.Now()
	f := far{progress.New(w), plan, &now}
	if plan.Replay != nil {
		f.Say("%s on %s (%s lab): the same %s, %s", plan.Algorithm, plan.Topology, plan.Lab, english.Count(len(plan.Replay.Moves), "move"), english.Count(plan.Times, "time"))
	} else {
		f.Say("%s on %s (%s lab): every order of %s; at most %d", plan.Algorithm, plan.Topology, plan.Lab, plan.Within(), plan.Budget)
	}
	return f
}

func (f far) at(at explore.Progress) {
	line := fmt.Sprintf("%s: with %s: %s, %s of all; %s", f.plan.Algorithm, english.Count(at.Faults, "fault"), english.Count(at.Orders, "order"), reports.Percent(at.Share), breaking(at.Broken))
	if left := time.Duration(at.Left * float64(time.Second)).Round(time.Second); left > 0 {
		line += fmt.Sprintf("; about %v left", left)
	}
	f.Show(line)
	if now := time.Now(); !f.Live() && now.Sub(*f.said) >= often {
		*f.said = now
		f.Say("%s", line)
	}
}

func breaking(n int) string {
	switch n {
	case 0:
		return "none breaks it so far"
	case 1:
		return "1 breaks it"
	}
	return fmt.Sprintf("%d break it", n)
}

func (f far) over(r *explore.Result, took time.Duration) {
	f.Close()
	if r != nil && f.plan.Replay == nil {
		f.Say("%s: %s in %v", f.plan.Algorithm, english.Count(r.Orders(), "order"), took.Round(100*time.Millisecond))
	}
}

// keep writes what was found of a lock, and says where. A replay leaves nothing, unless somebody
// wants that.
func (x *exploring) keep(l lb.Impl, r *explore.Result) (dir string, err error) {
	dir = x.out
	switch {
	case dir == "" && x.matrix == "":
		return "", nil
	case x.matrix != "":
		dir = rundir.ExploredOf(x.matrix, r.Plan.Algorithm)
		if err := os.RemoveAll(dir); err != nil { // what was found before, of this lock
			return "", err
		}
	case len(x.impls) > 1:
		dir = rundir.ExploredOf(x.out, r.Plan.Algorithm)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	defer rundir.Hold(dir)()
	for i := range r.Violations {
		err = errors.Join(err, x.violation(dir, l, i, &r.Violations[i]))
	}
	return dir, errors.Join(err, rundir.SaveExplored(dir, r))
}

// violation writes an order that broke the lock as a run, and leaves of it in the exploration what
// people read.
func (x *exploring) violation(dir string, l lb.Impl, i int, v *explore.Violation) error {
	v.Story = v.Tell()
	events, judged := v.Events, v.Result
	v.Events, v.Result, v.Marks = nil, nil, nil
	if judged == nil || len(events) == 0 {
		return fmt.Errorf("the order that shows %s has no history: %s", v.Outcome, v.Reason)
	}
	v.Dir = rundir.ViolationOf(i+1, v.Class)
	schedule := v.Schedule
	schedule.Plan.Replay, schedule.Plan.Times = nil, 0
	at := filepath.Join(dir, filepath.FromSlash(v.Dir))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	r, err := rundir.CreateOrder(at, x.orderPlan(judged.Plan, l.Info(), v), events, struct {
		Schema int `json:"schema"`
		explore.Schedule
	}{history.Schema, schedule})
	if err != nil {
		return err
	}
	judged.Plan = r.Plan
	if err := r.SaveResult(*judged); err != nil {
		return err
	}
	_, err = reports.HTML(at)
	return err
}

// orderPlan is the plan of an order as a run, with what people are to be told of it.
func (x *exploring) orderPlan(p history.Plan, info lb.Info, v *explore.Violation) history.Plan {
	p.Machine = run.Here()
	p.About = &history.About{Program: filepath.Base(os.Args[0]), Algorithm: info.Doc, Group: x.Groups[info.Name], Source: info.Source, Requests: info.Requests, Takes: info.Takes,
		Story: v.Story, Wrong: v.Class.Fault()}
	return p
}

// show tells what was found, for people or for programs, and makes it the exit code.
func (x *exploring) show(cmd *cobra.Command, dir string, r *explore.Result) error {
	out := cmd.OutOrStdout()
	code := exitKept
	switch {
	case r.Plan.Replay != nil && r.Replays[lb.Broken]+r.Replays[lb.Stuck]+r.Replays[lb.Fence] > 0, r.Undeclared():
		code = exitBroke
	case r.Spoilt() != "":
		code = exitUndecided
	}
	if x.json {
		return errors.Join(printJSON(out, r), ended(code))
	}
	if r.Plan.Replay != nil {
		return errors.Join(reports.Replayed(out, r.Plan.Times, r.Replays, showed(r, code)), ended(code))
	}
	if dir == "" { // it could not be made, which is said
		return ended(code)
	}
	e, err := rundir.OpenExplored(dir)
	if err != nil {
		return err
	}
	_, width := screen(out)
	err = reports.Explored(out, e, width, func(at string) string { return shellLine("explore", "--replay", at) })
	return errors.Join(err, ended(code))
}

// showed is the reason of what a replay showed, "" for nothing.
func showed(r *explore.Result, code int) string {
	switch {
	case code == exitUndecided && len(r.Doubts) > 0:
		return r.Doubts[0]
	case len(r.Violations) > 0:
		return r.Violations[0].Reason
	}
	return ""
}

// page makes the page of what was found: the matrix's, where it is one's.
func (x *exploring) page(cmd *cobra.Command) error {
	p := planFlags{out: cmp.Or(x.matrix, x.out), ours: x.ours}
	tell, noPage := leave(cmd, &p)
	tell()
	return noPage
}
