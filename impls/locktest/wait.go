package locktest

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// waiting: who waits gets the lock after its holder gave it back, not before.
func waiting(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 2)
	if err != nil {
		return err
	}
	holder, err := ps[0].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	granted := ps[1].inBackground(ctx, b.lock)
	if err := granted.not(moment); err != nil {
		return err
	}
	if err := holder.release(ctx); err != nil {
		return err
	}
	h, err := granted.within(prompt)
	if err != nil {
		return err
	}
	return h.release(ctx)
}

// deadline: who stops waiting at a deadline is told so in time, and nobody is
// blocked by what it leaves behind.
func deadline(ctx context.Context, b *bench) error {
	return giveUp(ctx, b, func(ctx context.Context, _ *party) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, moment)
	})
}

// canceled: the same for one that is told to stop waiting, with others behind it.
func canceled(ctx context.Context, b *bench) error {
	return giveUp(ctx, b, func(ctx context.Context, p *party) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(moment, cancel)
		return ctx, cancel
	})
}

// giveUp lets a client stop waiting by limit while another is queued behind it.
func giveUp(ctx context.Context, b *bench, limit func(context.Context, *party) (context.Context, context.CancelFunc)) error {
	ps, err := b.clients(ctx, 3)
	if err != nil {
		return err
	}
	holder, err := ps[0].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	limited, cancel := limit(ctx, ps[1])
	defer cancel()
	impatient := ps[1].inBackground(limited, b.lock)
	if err := ps[1].queued(ctx); err != nil {
		return err
	}
	next := ps[2].inBackground(ctx, b.lock)
	switch _, err := impatient.within(moment + prompt); {
	case err == nil:
		return errors.New("was granted, although another client holds it")
	case errors.Is(err, errStillWaits):
		return fmt.Errorf("%w after its context ended", err)
	case !gaveUp(err):
		return fmt.Errorf("stopped waiting with %w, want its context's error", err)
	}
	if err := next.not(moment); err != nil {
		return err
	}
	if err := holder.release(ctx); err != nil {
		return err
	}
	h, err := next.within(prompt)
	if err != nil {
		return fmt.Errorf("behind one that gave up: %w", err)
	}
	return h.release(ctx)
}

// trying: a try is answered at once, either way, and a refused one leaves nothing.
func trying(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 3)
	if err != nil {
		return err
	}
	h, err := ps[0].try(ctx, b.lock)
	if err != nil {
		return fmt.Errorf("a try of a free lock: %w", err)
	}
	for range 3 {
		if err := ps[1].refused(ctx, b.lock); err != nil {
			return err
		}
	}
	if err := h.release(ctx); err != nil {
		return err
	}
	if h, err = ps[2].try(ctx, b.lock); err != nil {
		return fmt.Errorf("a try after the release: %w", err)
	}
	return h.release(ctx)
}

// push: who waits does not ask again and again.
func push(ctx context.Context, b *bench) error {
	const most = 5 // requests in a second: to get in line, and the session's own
	ps, err := b.clients(ctx, 2)
	if err != nil {
		return err
	}
	holder, err := ps[0].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	granted := ps[1].inBackground(ctx, b.lock)
	if err := ps[1].queued(ctx); err != nil {
		return err
	}
	before := ps[1].trips()
	if err := granted.not(time.Second); err != nil {
		return err
	}
	if n := ps[1].trips() - before; n > most {
		return fmt.Errorf("a waiter asked %d times in a second, although the server is said to wake it", n)
	}
	if err := holder.release(ctx); err != nil {
		return err
	}
	h, err := granted.within(prompt)
	if err != nil {
		return err
	}
	return h.release(ctx)
}

// pending is an acquire that goes on.
type pending chan result

type result struct {
	*held
	err error
}

var errStillWaits = errors.New("still waits")

func (p *party) inBackground(ctx context.Context, lock string) pending {
	done, req := make(pending, 1), p.request(lock)
	go func() {
		h, err := p.ask(ctx, req)
		done <- result{h, err}
	}()
	return done
}

// not wants no end within d: the lock is taken.
func (g pending) not(d time.Duration) error {
	switch _, err := g.within(d); {
	case err == nil:
		return errors.New("was granted, although another client holds it")
	case errors.Is(err, errStillWaits):
		return nil
	default:
		return fmt.Errorf("stopped waiting: %w", err)
	}
}

func (g pending) within(d time.Duration) (*held, error) {
	select {
	case r := <-g:
		return r.held, r.err
	case <-time.After(d):
		return nil, fmt.Errorf("%w after %v", errStillWaits, d)
	}
}

var _ lb.Probe = (*watch)(nil)
