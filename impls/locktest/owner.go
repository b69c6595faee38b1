package locktest

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// foreignRelease: a client that never acquired the lock can't give it back.
func foreignRelease(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 3)
	if err != nil {
		return err
	}
	holder, err := ps[0].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	return stillHeld(ctx, holder, &held{party: ps[1], req: ps[1].request(b.lock)}, ps[2])
}

// secondRelease: what was given back can't be given back again, to the harm of
// the next holder.
func secondRelease(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 3)
	if err != nil {
		return err
	}
	first, err := ps[0].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	if err := first.release(ctx); err != nil {
		return err
	}
	holder, err := ps[1].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	return stillHeld(ctx, holder, first, ps[2])
}

// stillHeld wants the release of an acquisition that does not hold the lock to
// say so, and to do nothing to its holder.
func stillHeld(ctx context.Context, holder, wrong *held, other *party) error {
	if err := wrong.release(ctx); !errors.Is(err, lb.ErrLost) {
		return fmt.Errorf("the release of a lock that another client holds answered %w, want ErrLost", orNil(err))
	}
	if err := other.refused(ctx, holder.req.Lock); err != nil {
		return fmt.Errorf("after a release by one that did not hold it: %w", err)
	}
	return holder.release(ctx)
}

// errNone stands for nil where an error is printed.
var errNone = errors.New("nothing wrong")

func orNil(err error) error {
	if err == nil {
		return errNone
	}
	return err
}
