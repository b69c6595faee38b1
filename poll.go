package lockbench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// PollDelay is the mean pause between two tries of [Env.Poll].
const PollDelay = 10 * time.Millisecond

// Poll calls try until it no longer returns [ErrHeld], with a random pause of 5 to 15 ms in
// between (see [Env.Pause]). Where req only tries, it calls try once. It returns what the last
// try returned; if ctx ends in a pause, the error is an [ErrNoEffect], since the last try was refused.
func (e *Env) Poll(ctx context.Context, req Request, try func(context.Context) (*Lease, error)) (*Lease, error) {
	for {
		lease, err := try(ctx)
		if !errors.Is(err, ErrHeld) || req.Try {
			return lease, err
		}
		if err := e.Pause(ctx, req, PollDelay); err != nil {
			return nil, NoEffect(err)
		}
	}
}

// NoEffect marks the error of a request that certainly left nothing behind, as [ErrNoEffect].
func NoEffect(err error) error { return fmt.Errorf("%w: %w", ErrNoEffect, err) }

// Unsent is for the error of an algorithm's first and only request: if the request was not sent
// ([ErrNotSent]) it has no effect ([ErrNoEffect]). Any other error it returns as it is.
func Unsent(err error) error {
	if errors.Is(err, ErrNotSent) {
		return NoEffect(err)
	}
	return err
}

// Detached is a context for cleaning up: it does not end with ctx but after one TTL, and the requests
// under it are those of the [CleanUp].
func (e *Env) Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return e.WithTimeout(As(context.WithoutCancel(ctx), CleanUp), e.TTL)
}
