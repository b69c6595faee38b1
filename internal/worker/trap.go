package worker

import (
	"context"
	"sync"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
)

// trap stops one client at one step, once.
type trap struct {
	name   string // of the worker
	record func(lb.Event)
	last   func(lb.Event) // after it nothing is recorded
	report func(Report)

	frozen atomic.Int64 // the instant of the last freeze

	mu   sync.Mutex
	step string // "" when not armed
	how  lb.Grip
	held chan struct{} // closed to let go of a client on hold
}

func (t *trap) arm(step string, how lb.Grip) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step, t.how = step, how
}

func (t *trap) letGo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held != nil {
		close(t.held)
		t.held = nil
	}
}

// spring reports whether the trap is set for this step, and disarms it.
func (t *trap) spring(step string) (how lb.Grip, held <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.step != step || step == "" {
		return "", nil, false
	}
	t.step = ""
	if t.how == lb.Hold {
		t.held = make(chan struct{})
	}
	return t.how, t.held, true
}

// pass is called at every step of every client.
func (t *trap) pass(ctx context.Context, client, step, id string) error {
	how, held, ok := t.spring(step)
	if !ok {
		return ctx.Err()
	}
	if how == Notice {
		t.report(Report{Say: SayCaught, Client: client, ID: id})
		return ctx.Err()
	}
	start := lb.Now()
	t.record(lb.Event{At: start, Kind: lb.KindStep, Client: client, ID: id, Name: step, Phase: string(how)})
	if how == lb.Kill {
		// Recorded by the dying itself: stamped any later, the death of a holder
		// whose session ends with its connection could seem to come after the next
		// grant, and a correct lock would be convicted. It is the last event: what other
		// threads still do until the signal comes, a dead process does not do.
		t.last(lb.Event{Kind: lb.KindDead, Worker: t.name, Name: step})
	}
	t.report(Report{Say: SayCaught, Client: client, ID: id})
	switch how {
	case lb.Hold:
		select {
		case <-held:
		case <-ctx.Done():
		}
		t.report(Report{Say: SayHeld, Client: client, ID: id, Idle: lb.Now().Sub(start)})
	case lb.Freeze:
		t.frozen.Store(int64(lb.Now()))
		stopSelf()
	case lb.Kill:
		killSelf()
	}
	return ctx.Err()
}
