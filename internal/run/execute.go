package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/history"
	"github.com/lockbench/lockbench/internal/lab"
)

// The labs.
const (
	LabLocal  = "local"
	LabDocker = "docker"
)

// stopGrace is how long an interrupted run has for healing and ending.
const stopGrace = 5 * time.Second

// Execute does one run in a new directory and judges it. An error means that
// there is no result; what was recorded until then is in the directory.
func Execute(ctx context.Context, dir string, plan lb.Plan) (lb.RunResult, error) {
	if err := create(dir, plan); err != nil {
		return lb.RunResult{}, err
	}
	if err := performed(ctx, dir, plan.Lab); err != nil {
		return lb.RunResult{}, fmt.Errorf("run: %s × %s, seed %d (%s): %w", plan.Algorithm, plan.Fault, plan.Seed, dir, err)
	}
	notes, err := history.Merge(dir)
	if err != nil {
		return lb.RunResult{}, err
	}
	return judge(dir, notes)
}

// Judge checks the history of a run's directory, writes the result beside it
// and returns it. It can be done again at any time.
func Judge(dir string) (lb.RunResult, error) { return judge(dir, nil) }

// judge adds what is known beside the history to the notes of the result.
func judge(dir string, known []string) (lb.RunResult, error) {
	plan, err := ReadPlan(dir)
	if err != nil {
		return lb.RunResult{}, err
	}
	h, notes, err := history.ReadRun(dir)
	if err != nil {
		return lb.RunResult{}, err
	}
	res := checker.Check(plan, h)
	res.Schema, res.Notes = schema, slices.Concat(known, notes, res.Notes)
	return res, writeJSON(filepath.Join(dir, resultsFile), res)
}

// performed has the plan in dir performed in its lab.
func performed(ctx context.Context, dir, labName string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	logTo, err := openLog(dir, "lockbench")
	if err != nil {
		return err
	}
	defer logTo.Close()
	return InLab(ctx, labName, logTo, "perform", abs)
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
