// Package compose holds the parts that lock algorithms of every backend share,
// so that each algorithm's own file shows its protocol and nothing else.
package compose

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// RetryDelay is the mean pause between two tries of the algorithms that poll.
const RetryDelay = 10 * time.Millisecond

// NoEffect marks an error of a request that certainly left nothing behind.
func NoEffect(err error) error { return fmt.Errorf("%w: %w", lb.ErrNoEffect, err) }

// Unsent is the error of an algorithm's first and only request, which has no effect
// if it did not leave.
func Unsent(err error) error {
	if errors.Is(err, lb.ErrNotSent) {
		return NoEffect(err)
	}
	return err
}

// Poll calls try until it no longer says ErrHeld, with a random pause in between.
// When ctx ends in the pause, the request has no effect: the last try was refused.
func Poll(ctx context.Context, env *lb.Env, req lb.Request, try func(context.Context) (*lb.Lease, error)) (*lb.Lease, error) {
	for {
		lease, err := try(ctx)
		if !errors.Is(err, lb.ErrHeld) || req.Try {
			return lease, err
		}
		if err := env.Pause(ctx, req, RetryDelay); err != nil {
			return nil, NoEffect(err)
		}
	}
}

// Detached is a context for cleaning up: the end of ctx does not end it, its own
// bound of one TTL does.
func Detached(ctx context.Context, env *lb.Env) (context.Context, context.CancelFunc) {
	return env.WithTimeout(lb.As(context.WithoutCancel(ctx), lb.CleanUp), env.TTL)
}
