package conform

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// foreignRelease: a client that never acquired the lock can't give it back.
func foreignRelease(ctx context.Context, b *bench) error {
	ps, holder, err := b.taken(ctx, 3)
	if err != nil {
		return err
	}
	return stillHeld(ctx, holder, &held{party: ps[1], req: ps[1].request(b.lock)}, ps[2])
}

// secondRelease: what was given back can't be given back again, to the harm of
// the next holder.
func secondRelease(ctx context.Context, b *bench) error {
	ps, first, err := b.taken(ctx, 3)
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

// releaseAnswer: a release that is not disturbed says that the lock was held.
func releaseAnswer(ctx context.Context, b *bench) error {
	_, h, err := b.taken(ctx, 1)
	if err != nil {
		return err
	}
	if err := h.giveBack(ctx); err != nil {
		return fmt.Errorf("release of a lock that is held: %w", err)
	}
	return nil
}

// releaseAgain: a release whose answer was lost, and that is sent again when another
// client holds the lock, does it no harm and claims nothing: neither to have held the
// lock until then, nor that the lock service had dropped it.
func releaseAgain(ctx context.Context, b *bench) error {
	ps, h, err := b.taken(ctx, 3)
	if err != nil {
		return err
	}
	// A script that the server does not know yet is sent again when it says so, which is an
	// answer: a first release would not be whole.
	if err := h.release(ctx); err != nil {
		return err
	}
	if h, err = ps[0].soon(ctx, b.lock); err != nil {
		return err
	}
	ps[0].set(loses)
	err = ps[0].mustFail(ctx, "Release", func(ctx context.Context) error { return h.session.Release(ctx, h.req) })
	ps[0].set(forwards)
	if err != nil {
		return err
	}
	next, err := ps[1].soon(ctx, b.lock)
	if err != nil {
		return fmt.Errorf("after a release whose answer was lost: %w", err)
	}
	for range 3 {
		if err = h.giveBack(ctx); lb.AnswerOf(err) != lb.AnswerUnknown {
			break
		}
	}
	switch answer := lb.AnswerOf(err); answer {
	case lb.AnswerReleased, lb.AnswerUnknown:
	default:
		return fmt.Errorf("a release that was sent again says %q (%w), want %q", answer, orNil(err), lb.AnswerReleased)
	}
	if err := ps[2].refused(ctx, b.lock); err != nil {
		return fmt.Errorf("after a release that was sent again: %w", err)
	}
	return next.release(ctx)
}

// stillHeld wants the release of an acquisition that does not hold the lock to
// say so, and to do nothing to its holder.
func stillHeld(ctx context.Context, holder, wrong *held, other *party) error {
	if err := wrong.giveBack(ctx); !errors.Is(err, lb.ErrLost) {
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
