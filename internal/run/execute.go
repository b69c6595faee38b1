// Package run turns a plan into a run: it brings the lab up, lets the workers
// work, injects and heals the fault, and leaves a directory from which the
// checkers and the reports do the rest.
//
// [Execute] is called in the user's own process. It starts this program again,
// inside the lab, where [Perform] does the work.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// Grace is the moment that something has for ending which is interrupted in its lab, and has
// nothing more to say. The lab is cleaned up from outside.
const Grace = 500 * time.Millisecond

// ErrBug: the bench's own process panicked.
var ErrBug = errors.New("a bug of lockbench")

// ErrFailed: the bench came to no end with a run that it had begun.
var ErrFailed = errors.New("run failed")

// Execute does one run in a new directory and judges it. An error means that the
// bench failed, and the result says no more than that; what was recorded until then
// is in the directory.
func Execute(ctx context.Context, c catalog.Catalog, dir string, plan history.Plan) (checker.Result, error) {
	return Watched(ctx, c, dir, plan, func(string) {})
}

// Watched is [Execute] that tells, in a few words, what the run is at: servers start,
// clients work, the fault strikes and is healed, the history is judged. It tells one at a
// time.
func Watched(ctx context.Context, c catalog.Catalog, dir string, plan history.Plan, tell func(phase string)) (checker.Result, error) {
	c, err := c.With(plan.Exec)
	if err != nil {
		return failed(plan, err), err
	}
	plan.Machine, plan.Versions, plan.About = Here(), versions(ctx, c, plan), about(c, plan)
	r, err := rundir.CreateRun(dir, plan)
	if err != nil {
		return failed(plan, err), err
	}
	defer rundir.Hold(dir)()
	if err := performed(ctx, c, r, tell); err != nil {
		if wrong := r.Blamed(); wrong != nil {
			err = wrong
		}
		res := failed(r.Plan, err)
		noWord := r.Fail(res.Reason)
		if ctx.Err() == nil { // harm that was seen until then stands
			if seen, notJudged := Judge(ctx, c, r); notJudged == nil && seen.Outcome != lb.Inconclusive {
				seen.Notes, seen.Failed = append(seen.Notes, res.Reason), true
				res = seen
			}
		}
		err = errors.Join(err, noWord, r.SaveResult(res))
		return res, fmt.Errorf("%w: %s × %s, seed %d (%s): %w", ErrFailed, plan.Algorithm, plan.Fault, plan.Seed, dir, err)
	}
	tell("the history is judged")
	res, err := Judge(ctx, c, r)
	if err != nil {
		return failed(r.Plan, err), fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return res, r.SaveResult(res)
}

// performed has the plan performed in its lab.
func performed(ctx context.Context, c catalog.Catalog, r *rundir.Run, tell func(string)) error {
	driver, err := c.Lab(r.Plan.Lab, r.Plan.Addrs)
	if err != nil {
		return err
	}
	abs, err := filepath.Abs(r.Dir)
	if err != nil {
		return err
	}
	logTo, err := r.OpenLog("lockbench")
	if err != nil {
		return err
	}
	defer logTo.Close()
	phases, told, err := listen(tell)
	if err != nil {
		return err
	}
	defer told()
	servers, err := c.Servers(r.Plan)
	if err != nil {
		return err
	}
	giveBack, err := Borrow(ctx, driver, servers.Kind)
	if err != nil {
		return err
	}
	defer giveBack()
	return inLab(ctx, driver, logTo, phases, Grace, "perform", abs)
}

// InLab starts this program again with these arguments, in namespaces of its own where
// the lab wants that, and returns when it has ended. What it prints goes to the log; its
// last line is part of the error. One that is interrupted is killed where it has not ended within
// bound.
func InLab(ctx context.Context, driver lab.Driver, logTo *os.File, bound time.Duration, args ...string) error {
	return inLab(ctx, driver, logTo, nil, bound, args...)
}

// inLab is [InLab]; where phases is not nil, the program has it at [Phases].
func inLab(ctx context.Context, driver lab.Driver, logTo, phases *os.File, bound time.Duration, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr = logTo, logTo
	if phases != nil {
		cmd.ExtraFiles = []*os.File{phases}
	}
	thread, leave, err := driver.Enter(ctx, cmd)
	if err != nil {
		return err
	}
	defer thread.Close()
	defer func() {
		if err := leave(); err != nil { // what was recorded is whole all the same
			slog.Warn("something of the lab is left; lockbench clean removes it", "error", err)
		}
	}()
	if err := thread.Start(cmd); err != nil {
		return fmt.Errorf("start the lab: %w (lockbench doctor says what this machine can do)", err)
	}
	return waitFor(ctx, cmd, bound, logTo.Name())
}

func waitFor(ctx context.Context, cmd *exec.Cmd, bound time.Duration, log string) error {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return explain(err, log)
	case <-ctx.Done():
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(bound):
		_ = cmd.Process.Kill()
		<-ended
	}
	return ctx.Err()
}

// explain adds to the error of the lab's process what it said last.
func explain(err error, log string) error {
	if err == nil {
		return nil
	}
	text, readErr := os.ReadFile(log)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	var ended *exec.ExitError
	if len(text) == 0 && errors.As(err, &ended) && !ended.Exited() { // who is killed says nothing
		return err
	}
	if len(text) == 0 {
		return fmt.Errorf("%w: it said nothing in %s: is the disk full?", err, log)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	said := lines[len(lines)-1]
	for _, line := range lines { // of a panic the first line tells, not the last
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "lockbench: internal error: ") {
			return fmt.Errorf("%w: %w: %s; see %s", ErrBug, err, line, log)
		}
	}
	return fmt.Errorf("%w: %s", err, said)
}
