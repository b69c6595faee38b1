package worker

import (
	"context"
	"slices"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/processes"
)

// traps stop clients at steps. Each belongs to the instruction that set it.
type traps struct {
	worker string
	record func(history.Event)
	last   func(history.Event) // after it nothing is recorded
	report func(Report)

	frozen sync.Map // instants of freezes by trap, for the heartbeat

	mu  sync.Mutex
	set []*trap
}

// trap is one instruction to catch.
type trap struct {
	Instruction
	letGo chan struct{} // closed to let go of whom it delays
	there []string      // clients that it has caught
	again bool          // the client that comes is caught already: it sends several requests at once
}

// wants reports whether the trap is for that client at that step.
func (t *trap) wants(client, step string) bool {
	return (t.Step == step || t.Step == AnyStep) && client != t.AllBut && (t.Only == "" || t.Only == client) && (t.AllBut != "" || len(t.there) < max(t.All, 1))
}

// holds reports whether the client stands at that step already.
func (t *trap) holds(client, step string) bool {
	return t.How == faults.Delay && t.Step == step && slices.Contains(t.there, client)
}

// complete reports whether all have come for whom it waits.
func (t *trap) complete() bool { return len(t.there) >= t.All }

func (t *traps) arm(o Instruction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set = append(t.set, &trap{Instruction: o, letGo: make(chan struct{})})
}

// free takes back the trap of that number and lets go of whom it has caught.
func (t *traps) free(n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, trap := range t.set {
		if trap.N == n {
			close(trap.letGo)
			t.set = append(t.set[:i:i], t.set[i+1:]...)
			return
		}
	}
}

func (t *traps) freeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, trap := range t.set {
		close(trap.letGo)
	}
	t.set = nil
}

// spring returns the traps that are set for a client at this step: those that only
// notice, and at most one that stops.
func (t *traps) spring(client, step string) (caught []*trap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stopped := false
	for _, trap := range t.set {
		held := trap.holds(client, step)
		if !held && !trap.wants(client, step) || stopped && trap.How != Notice {
			continue
		}
		if !slices.Contains(trap.there, client) {
			trap.there = append(trap.there, client)
		}
		stopped = stopped || trap.How != Notice
		one := *trap
		one.again = held
		one.Step = step
		if !one.complete() {
			one.How = faults.Delay
		}
		caught = append(caught, &one)
	}
	return caught
}

// wait returns when whom it delays is let go.
func (t *trap) wait(ctx context.Context) {
	select {
	case <-t.letGo:
	case <-ctx.Done():
	}
}

// pass is called at every step of every client.
func (t *traps) pass(ctx context.Context, client string, m lb.Move) error {
	for _, trap := range t.spring(client, m.Name) {
		if trap.again {
			trap.wait(ctx)
			continue
		}
		caught := Report{N: trap.N, Say: SayCaught, At: clock.Now(), Client: client, ID: m.Owner, Lock: m.Lock}
		if trap.How == Notice {
			t.report(caught)
			continue
		}
		t.stop(ctx, trap, caught)
	}
	return ctx.Err()
}

// stop stops the client that calls it.
func (t *traps) stop(ctx context.Context, trap *trap, caught Report) {
	if caught.ID != "" { // else nobody's acquisition
		t.record(history.Event{At: caught.At, Kind: history.KindStep, Client: caught.Client, ID: caught.ID, Name: trap.Step, Phase: string(trap.How)})
	}
	var programs *processes.Stopped
	if trap.How == faults.Kill || trap.How == faults.Freeze {
		var err error
		if programs, err = stopPrograms(); err != nil {
			_ = programs.Continue() // those that have stopped
			t.report(Report{N: trap.N, Say: SayFailed, Error: err.Error()})
			return
		}
		caught.Programs = programs.Pids()
	}
	if trap.How == faults.Kill {
		// Recorded by the dying itself: stamped any later, the death of a holder
		// whose session ends with its connection could seem to come after the next
		// grant, and a correct lock would be convicted. It is the last event: what other
		// threads still do until the signal comes, a dead process does not do.
		t.last(history.Event{Kind: history.KindDead, Worker: t.worker, Name: trap.Step})
	}
	if trap.complete() {
		t.report(caught)
	}
	switch trap.How {
	case faults.Kill:
		programs.Kill()
		killSelf()
	case faults.Freeze:
		t.frozen.Store(trap.N, clock.Now())
		stopSelf()
		if err := programs.Continue(); err != nil {
			t.report(Report{N: trap.N, Say: SayFailed, Error: err.Error()})
			return
		}
	case faults.Delay:
		trap.wait(ctx)
	}
	if !trap.complete() {
		return
	}
	t.report(Report{N: trap.N, Say: SayOn, Client: caught.Client, ID: caught.ID, Idle: clock.Now().Sub(caught.At)})
}

// lastFreeze is the instant of the latest freeze, 0 if there was none.
func (t *traps) lastFreeze() (at lb.Instant) {
	t.frozen.Range(func(_, v any) bool {
		at = max(at, v.(lb.Instant))
		return true
	})
	return at
}
