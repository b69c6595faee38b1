package run

import (
	"context"
	"errors"
	"slices"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
)

// acts are what one strike did, and how it is undone.
type acts struct {
	struck func(at lb.Instant) // is called at the first act

	mu      sync.Mutex
	begun   bool
	victims []*caught
	ends    []func(note string) // of the victims' stops
	undo    []func(context.Context) error
	down    map[string]bool // servers that were killed and nobody starts again
}

func (a *acts) strike(at lb.Instant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.begun {
		a.begun = true
		a.struck(at)
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

// unwind undoes what the strike did. First it lets the victims go; those that are late
// anyway at the worst moment for a careless lock: another client has just been granted
// the lock and is at work, and works for long enough for a third to be granted what
// the late one gave away. For neither is waited for long, since perhaps nobody can get
// the lock any more, and of a lock that is one there is no third.
func (s *stage) unwind(ctx context.Context, late bool) (err error) {
	a := s.acts
	a.mu.Lock() // a fault that does not heed its context may go on
	victims, ends, undo := slices.Clone(a.victims), slices.Clone(a.ends), slices.Clone(a.undo)
	a.mu.Unlock()
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
