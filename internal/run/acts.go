package run

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
)

// acts are what one strike did, and how it is undone.
type acts struct {
	mu      sync.Mutex
	begun   bool
	victims []*caught
	ends    []func(note string) // of the victims' stops
	undo    []func(context.Context) error
	last    []func()        // what is looked at before the first victim is let go
	down    map[string]bool // servers that were killed and nobody starts again
}

// act records that something is being done to a node since an instant, 0 for now. What
// it returns records that it is over. The first act of a fault is its strike.
func (s *strike) act(name, target string, since lb.Instant) (end func(note string)) {
	if since == 0 {
		since = clock.Now()
	}
	s.acts.mu.Lock()
	if !s.begun {
		s.begun = true
		s.told(since, history.PhaseStrike, history.Proof{})
	}
	s.acts.mu.Unlock()
	e := history.Event{At: since, Kind: history.KindAct, Name: name, Target: target, Fault: s.fault.Name, Phase: history.PhaseBegin}
	s.record(e)
	return func(note string) {
		e.At, e.Phase, e.Note = 0, history.PhaseEnd, note
		s.record(e)
	}
}

// held are the victims that were not let go yet.
func (a *acts) held() (still []*caught) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range a.victims {
		if !v.free {
			still = append(still, v)
		}
	}
	return still
}

// comeBack is how long the servers that are to be started again when it is healed may take, one
// after the other.
func (s *strike) comeBack() (all time.Duration) {
	s.acts.mu.Lock()
	defer s.acts.mu.Unlock()
	for _, down := range s.down {
		if down {
			all += aServer(s.plan.TTL)
		}
	}
	return all
}

// aServer is how long one may take to start: on a busy machine, and where it first waits for the
// end of every lease.
func aServer(ttl time.Duration) time.Duration { return serverBound + 2*ttl }

// undone is to be called when the fault is healed, unless the returned function was
// before.
func (a *acts) undone(f func(context.Context) error) (once func(context.Context) error) {
	var do sync.Once
	var err error
	once = func(ctx context.Context) error {
		do.Do(func() { err = f(ctx) })
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.undo = append(a.undo, once)
	return once
}

// before has f called before the first victim is let go.
func (a *acts) before(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = append(a.last, f)
}

// unwind undoes what the strike did. First it lets the victims go; those that are late
// anyway at the worst moment for a careless lock: another client has just been granted
// the lock and is at work, and works for long enough for a third to be granted what
// the late one gave away. For neither is waited for long, since perhaps nobody can get
// the lock any more, and of a lock that is one there is no third.
func (s *strike) unwind(ctx context.Context, late bool) (err error) {
	a := &s.acts
	a.mu.Lock() // a fault that does not heed its context may go on
	victims, ends, undo, last := slices.Clone(a.victims), slices.Clone(a.ends), slices.Clone(a.undo), slices.Clone(a.last)
	a.mu.Unlock()
	for _, look := range last {
		look()
	}
	for i, v := range victims {
		second := func(context.Context) error { return nil }
		if late && !v.free && v.how != faults.Kill {
			second = s.another(ctx, v.worker)
		}
		err = errors.Join(err, v.release(ctx, ends[i]), second(ctx))
	}
	for _, f := range slices.Backward(undo) {
		err = errors.Join(err, f(ctx))
	}
	return err
}
