package explore

import (
	"context"
	"errors"
	"time"

	lb "github.com/lockbench/lockbench"
)

// hands is the clock of one client: the machine's, and all the time that was said to pass. Nobody
// waits by it: how long a wait takes is the scheduler's to say.
type hands struct{ of *client }

// Now implements [lb.Clock].
func (h hands) Now() time.Time {
	h.of.look()
	h.of.looks()
	return time.Now().Round(0).Add(h.of.order.e.time.ahead())
}

// Mono implements [lb.Clock].
func (h hands) Mono() lb.Reading {
	h.of.look()
	h.of.looks()
	return lb.Reading(h.of.order.e.time.now())
}

// Sleep implements [lb.Clock].
func (h hands) Sleep(ctx context.Context, d time.Duration) error {
	return h.of.sleep(ctx)
}

// WithTimeout implements [lb.Clock]. Only who waits for a server is ever told that its time is
// over: a request that has passed its last look at a clock may be late all the same.
func (h hands) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	t := &timeout{Context: ctx, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		t.end(err)
	}
	forget := h.of.await(ctx, t)
	stop := context.AfterFunc(ctx, func() { t.end(ctx.Err()) })
	return t, func() {
		stop()
		forget()
		t.end(context.Canceled)
	}
}

// timeout is a context that ends when the scheduler says so.
type timeout struct {
	context.Context
	done chan struct{}
	once onceError
}

func (t *timeout) Done() <-chan struct{} { return t.done }

// Err implements [context.Context]. It knows at once of the end of what it was made of.
func (t *timeout) Err() error {
	if err := t.Context.Err(); err != nil {
		t.end(err)
	}
	return t.once.get()
}

type timeoutKey struct{}

// Value implements [context.Context]. Who begins to wait can be told when its time is over.
func (t *timeout) Value(key any) any {
	if key == (timeoutKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// Deadline implements [context.Context]: no driver is to keep one.
func (t *timeout) Deadline() (time.Time, bool) { return time.Time{}, false }

func (t *timeout) end(err error) {
	if t.once.set(err) {
		close(t.done)
	}
}

func (t *timeout) over() { t.end(context.DeadlineExceeded) }

var errOver = errors.New("the order is over")
