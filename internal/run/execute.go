// Package run turns a plan into a run: it brings the lab up, lets the workers
// work, injects and heals the fault, and leaves a directory from which the
// checkers and the reports do the rest.
//
// [Execute] is called in the user's own process. It starts this program again,
// inside the lab, where [Perform] does the work.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/rundir"
)

// The labs.
const (
	LabLocal  = "local"
	LabDocker = "docker"
)

// stopGrace is how long an interrupted run has for healing and ending.
const stopGrace = 5 * time.Second

// Execute does one run in a new directory and judges it. An error means that the
// bench failed, and the result says no more than that; what was recorded until then
// is in the directory.
func Execute(ctx context.Context, dir string, plan lb.Plan) (lb.RunResult, error) {
	plan.Machine, plan.Versions = here(), versions(ctx, plan)
	r, err := rundir.CreateRun(dir, plan)
	if err != nil {
		return failed(plan, err), err
	}
	if err := performed(ctx, r); err != nil {
		res := failed(r.Plan, err)
		err = errors.Join(err, r.Fail(res.Reason), r.SaveResult(res))
		return res, fmt.Errorf("run: %s × %s, seed %d (%s): %w", plan.Algorithm, plan.Fault, plan.Seed, dir, err)
	}
	res, err := Judge(ctx, r)
	if err != nil {
		return failed(r.Plan, err), err
	}
	return res, r.SaveResult(res)
}

// performed has the plan performed in its lab.
func performed(ctx context.Context, r *rundir.Run) error {
	abs, err := filepath.Abs(r.Dir)
	if err != nil {
		return err
	}
	logTo, err := r.OpenLog("lockbench")
	if err != nil {
		return err
	}
	defer logTo.Close()
	return InLab(ctx, r.Plan.Lab, logTo, "perform", abs)
}

// InLab starts this program again with these arguments, in the namespaces of a new
// local lab where that is the lab's name, and returns when it has ended. What it
// prints goes to the log; its last line is part of the error.
func InLab(ctx context.Context, labName string, logTo *os.File, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr = logTo, logTo
	lab.Detach(cmd)
	if labName == LabLocal {
		lab.Isolate(cmd)
	}
	// From a thread of its own: the kernel kills the lab when the thread that
	// started it ends, and Go ends threads as it likes.
	thread, err := lab.NewLauncher(nil)
	if err != nil {
		return err
	}
	defer thread.Close()
	if err := thread.Start(cmd); err != nil {
		return fmt.Errorf("start the lab: %w (lockbench doctor says what this machine can do)", err)
	}
	return waitFor(ctx, cmd, logTo.Name())
}

func waitFor(ctx context.Context, cmd *exec.Cmd, log string) error {
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
	case <-time.After(stopGrace):
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
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
}
