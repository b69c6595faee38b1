package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// TestCodes: 70 is a bug of lockbench and nothing else.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, exitKept},
		{usage("so"), exitUsage},
		{fmt.Errorf("it failed: %w", fs.ErrExist), exitUsage},
		{fmt.Errorf("open: %w", fs.ErrPermission), exitUsage},
		{&history.LineError{File: "f", Line: 1, Err: errors.New("no event")}, exitUsage},
		{fmt.Errorf("the page: %w: so", rundir.ErrMixed), exitUsage},
		{fmt.Errorf("redis is %w", lab.ErrMissing), exitCantRun},
		{fmt.Errorf("%w: A: %w", run.ErrFailed, syscall.ENOSPC), exitCantRun},
		{errors.New("no such engine"), exitCantRun},
		{fmt.Errorf("%w: A: the worker has ended", run.ErrFailed), exitUndecided},
		{fmt.Errorf("%w: %w: panic: so", run.ErrFailed, run.ErrBug), exitInternal},
		{errors.Join(nil, fmt.Errorf("%w: A", run.ErrFailed)), exitUndecided},
	} {
		if got := codeOf(c.err); got != c.code {
			t.Errorf("%v: %d, want %d", c.err, got, c.code)
		}
	}
}

// TestWorse: of two ends the graver counts, and a run that failed is graver than a limit.
func TestWorse(t *testing.T) {
	failed := fmt.Errorf("%w: A: the worker has ended", run.ErrFailed)
	for _, c := range []struct {
		a, b error
		code int
	}{
		{nil, nil, exitKept},
		{ended(exitUndecided), nil, exitUndecided},
		{ended(exitUndecided), ended(exitSlow), exitSlow},
		{ended(exitSlow), failed, exitUndecided},
		{worse(ended(exitSlow), failed), ended(exitSlow), exitUndecided},
		{failed, ended(exitBroke), exitBroke},
		{errors.New("no such engine"), ended(exitUndecided), exitCantRun},
	} {
		for _, err := range []error{worse(c.a, c.b), worse(c.b, c.a)} {
			if got := codeOf(err); got != c.code {
				t.Errorf("%v and %v: %d, want %d", c.a, c.b, got, c.code)
			}
		}
	}
}

// TestAgain: the command that is printed is one that a shell reads as it was meant.
func TestAgain(t *testing.T) {
	line := again(history.Plan{Algorithm: "redis-fenced", Fault: "pause@before-write/0.7ttl", Workload: "my work", Lab: "local", Clients: 6, Processes: 3, Duration: 2e9, Seed: 9})
	_, flags, _ := strings.Cut(line, " run ")
	if want := "--algorithm redis-fenced --fault pause@before-write/0.7ttl --workload 'my work' --lab local --clients 6 --processes 3 --duration 2s --seed 9"; flags != want {
		t.Errorf("%s, want %s", flags, want)
	}
	if words := commands(t, "lockbench run "+flags); len(words) != 1 || words[0][6] != "my work" {
		t.Errorf("a shell reads %q", words)
	}
}
