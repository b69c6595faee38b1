package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
)

// The steps that every workload has: its holder begins to work, and is at work.
const (
	whileBeginning = "after-read"
	whileHolding   = "work"
)

// knows says whether a client of the setting ever passes the step.
func knows(s lb.Setting, step string) error {
	steps := slices.Concat(s.Algorithm.Steps, s.Workload.Steps)
	if slices.Contains(steps, step) {
		return nil
	}
	return fmt.Errorf("%s under %s has no step %s; it has %s",
		s.Algorithm.Name, s.Workload.Name, step, strings.Join(steps, ", "))
}

// freeze stops the worker of the first client that passes step, with SIGSTOP,
// until it is healed. It bites if it outlasted the lease.
func freeze(ctx context.Context, on lb.Stage, step string) (lb.Heal, error) {
	c, err := on.Catch(ctx, step, lb.Freeze)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lb.Effect, error) {
		whileOthersWork(ctx, on, c.Worker)
		idle, err := c.LetGo(ctx)
		return lb.Effect{
			Bit: idle > on.TTL(),
			Measured: fmt.Sprintf("%s did not run for %.3f s (its own heartbeat; TTL %.3g s)",
				c.Worker.Name(), idle.Seconds(), on.TTL().Seconds()),
		}, err
	}, nil
}

// kill ends the worker of the first client that passes step, with SIGKILL.
func kill(ctx context.Context, on lb.Stage, step string) (lb.Heal, error) {
	c, err := on.Catch(ctx, step, lb.Kill)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lb.Effect, error) {
		_, err := c.LetGo(ctx) // waits until the process is gone
		return lb.Effect{
			Bit:      err == nil,
			Measured: fmt.Sprintf("%s was killed while %s stood at %s", c.Worker.Name(), c.Client, step),
		}, err
	}, nil
}

// whileOthersWork waits for the worst moment to let a late holder go: another
// client has just been granted the lock and is at work. It waits for at most one
// TTL, since perhaps nobody can get the lock any more.
func whileOthersWork(ctx context.Context, on lb.Stage, late lb.Process) {
	ctx, cancel := context.WithTimeout(ctx, on.TTL())
	defer cancel()
	_ = on.Passed(ctx, whileBeginning, late) // without such a moment, any other will do
}

// processes is the plain view of servers or workers.
func processes[P lb.Process](ps []P) (all []lb.Process) {
	for _, p := range ps {
		all = append(all, p)
	}
	return all
}

// seconds prints a duration as the reports do.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
