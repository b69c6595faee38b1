// Package processes finds, stops and ends the processes that a process has started, and those that
// these have started: a program of another language may be a script with helpers, and what is
// done to a client must reach it whole.
//
// A control group would do the same, but only root has one everywhere. Descent is enough as
// long as nobody is lost who has outlived a parent: call [Adopt] before the first is started.
package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bound is how long the processes are looked for again, since those that are not yet stopped
// may start others, and a busy machine lets nobody stop.
const bound = 5 * time.Second

// Stopped are processes that were stopped with all that they have started.
type Stopped struct{ all []process }

// process is one of them, and how long it had run when it was seen to be stopped.
type process struct {
	pid int
	ran time.Duration
}

// Stop stops all that pid has started, but not pid itself, and returns when they have stopped.
// Without any there is nothing to continue.
func Stop(pid int) (*Stopped, error) {
	var s Stopped
	for end := time.Now().Add(bound); time.Now().Before(end); {
		all, err := Of(pid)
		if err != nil {
			return &s, err
		}
		waiting := false
		for _, one := range all {
			if slices.ContainsFunc(s.all, func(p process) bool { return p.pid == one }) {
				continue
			}
			now, err := stateOf(one)
			switch {
			case err != nil || now == ended: // meanwhile
			case now == stopped:
				s.all = append(s.all, process{one, ranFor(one)})
			default:
				waiting = true
				_ = syscall.Kill(one, stopSignal) // who has ended meanwhile is seen to have
			}
		}
		if !waiting {
			return &s, nil
		}
		time.Sleep(time.Millisecond)
	}
	return &s, fmt.Errorf("not all processes below %d have stopped within %v", pid, bound)
}

// Pids are those that were stopped.
func (s *Stopped) Pids() (all []int) {
	for _, p := range s.all {
		all = append(all, p.pid)
	}
	return all
}

// Continue lets them run again. The error names those that have run in the meantime, or
// have ended: somebody else has continued or killed them.
func (s *Stopped) Continue() error {
	var wrong []string
	for _, p := range s.all {
		now, err := stateOf(p.pid)
		switch ran := ranFor(p.pid); {
		case err != nil || now == ended:
			wrong = append(wrong, fmt.Sprintf("process %d has ended", p.pid))
		case now != stopped || ran > p.ran+tolerated:
			wrong = append(wrong, fmt.Sprintf("process %d has run for %v", p.pid, ran-p.ran))
		}
	}
	for _, p := range s.all {
		_ = syscall.Kill(p.pid, continueSignal)
	}
	if len(wrong) > 0 {
		return errors.New("while they should have been stopped, " + strings.Join(wrong, ", "))
	}
	return nil
}

// Kill ends them, who stay stopped until then.
func (s *Stopped) Kill() {
	for _, p := range s.all {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// KillMarked ends all below this process that have inherited a variable, NAME=VALUE, from who
// has started them: those, too, whose parents have ended, and who left their groups.
func KillMarked(variable string) {
	for range 10 { // one may have started another meanwhile
		all, _ := Of(os.Getpid())
		all = slices.DeleteFunc(all, func(pid int) bool { return !Runs(pid) || !marked(pid, variable) })
		if len(all) == 0 {
			return
		}
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// AwaitEnd returns when the processes have ended.
func AwaitEnd(ctx context.Context, pids []int) error {
	for _, pid := range pids {
		for {
			if !Runs(pid) {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("process %d lives on: %w", pid, ctx.Err())
			case <-time.After(time.Millisecond):
			}
		}
	}
	return nil
}

// Runs reports whether a process has not ended.
func Runs(pid int) bool {
	now, err := stateOf(pid)
	return err == nil && now != ended
}

// tolerated is what stopping itself takes of a thread that is told to while it runs.
const tolerated = 5 * time.Millisecond

// Kill ends pid and all that it has started, and returns when they are gone, or about to be
// buried by their parents. pid is stopped first, so that nobody is lost who outlives it.
func Kill(pid int) {
	_ = syscall.Kill(pid, stopSignal)
	for end := time.Now().Add(bound); time.Now().Before(end); {
		all, _ := Of(pid)
		all = slices.DeleteFunc(all, func(one int) bool { return !Runs(one) })
		if len(all) == 0 {
			break
		}
		for _, one := range all {
			_ = syscall.Kill(one, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
