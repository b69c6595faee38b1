package worker

import (
	"context"
	"errors"
	"os"

	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/processes"
)

// stopPrograms stops the programs that locks are, with all that they have started, before this
// process stops or ends: a client is frozen, or dies, whole.
func stopPrograms() (*processes.Stopped, error) {
	if !foreign.Running() {
		return new(processes.Stopped), nil
	}
	return processes.Stop(os.Getpid())
}

// tellClock says how far the clocks are ahead, as programs read them where the lock is one.
func (w *worker) tellClock(ctx context.Context, o Instruction) {
	if !foreign.Running() {
		w.say(Report{N: o.N, Say: SayClock, Ahead: clock.Ahead()})
		return
	}
	ahead, err := foreign.Ahead(ctx)
	if err != nil {
		w.say(Report{N: o.N, Say: SayFailed, Error: err.Error()})
		return
	}
	w.say(Report{N: o.N, Say: SayClock, Ahead: ahead})
}

// blame tells what a program did wrong, in its one line.
func (w *worker) blame(f *foreign.Finding) { w.say(Report{Say: SayWrong, Error: f.Error()}) }

// lastWord tells of what has ended the worker: of a program's wrong that line alone.
func lastWord(err error) Report {
	if f := (*foreign.Finding)(nil); errors.As(err, &f) {
		return Report{Say: SayWrong, Error: f.Error()}
	}
	return Report{Say: SayFailed, Error: err.Error()}
}
