package conform

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// reentrant: a holder gets the lock again at once, and has given it back when it
// released as often as it acquired.
func reentrant(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 2)
	if err != nil {
		return err
	}
	var stack []*held
	for n := range 3 {
		h, err := ps[0].try(ctx, b.lock)
		if err != nil {
			return fmt.Errorf("acquire %d by the holder: %w", n+1, err)
		}
		stack = append(stack, h)
	}
	for _, h := range stack {
		if err := ps[1].refused(ctx, b.lock); err != nil {
			return err
		}
		if err := h.release(ctx); err != nil {
			return err
		}
	}
	h, err := ps[1].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	return h.release(ctx)
}

// notReentrant: to a lock that makes no such claim its holder is one of many.
func notReentrant(ctx context.Context, b *bench) error {
	ps, h, err := b.taken(ctx, 1)
	if err != nil {
		return err
	}
	p := ps[0]
	if err := p.refused(ctx, b.lock); err != nil {
		return fmt.Errorf("its own holder, though it does not claim to be reentrant: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, p.moment)
	defer cancel()
	// Whatever this leaves behind: nobody else wants the lock.
	if _, err := p.session.Acquire(limited, p.request(b.lock)); !gaveUp(orNil(err)) {
		return fmt.Errorf("an acquire by its own holder ended with %w, want its context's error", orNil(err))
	}
	return h.release(ctx)
}

// shared: readers share, writers don't.
func shared(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 3)
	if err != nil {
		return err
	}
	read := func(p *party) (*held, error) {
		req := p.request(b.lock)
		req.Shared, req.Try = true, true
		return p.ask(ctx, req)
	}
	r1, err := read(ps[0])
	if err != nil {
		return fmt.Errorf("a reader of a free lock: %w", err)
	}
	r2, err := read(ps[1])
	if err != nil {
		return fmt.Errorf("a second reader: %w", err)
	}
	writer := ps[2].inBackground(ctx, b.lock)
	if err := errors.Join(writer.not(b.moment), r1.release(ctx)); err != nil {
		return fmt.Errorf("a writer beside two readers: %w", err)
	}
	if err := errors.Join(writer.not(b.moment), r2.release(ctx)); err != nil {
		return fmt.Errorf("a writer beside a reader: %w", err)
	}
	w, err := writer.within(b.prompt)
	if err != nil {
		return fmt.Errorf("a writer after the last reader: %w", err)
	}
	if _, err := read(ps[0]); !errors.Is(err, lb.ErrHeld) {
		return fmt.Errorf("a reader beside a writer: %w, want ErrHeld", orNil(err))
	}
	if err := w.release(ctx); err != nil {
		return err
	}
	if r1, err = read(ps[0]); err != nil {
		return fmt.Errorf("a reader after the writer: %w", err)
	}
	return r1.release(ctx)
}

// notShared: who has no shared mode says so, and does not grant something else.
func notShared(ctx context.Context, b *bench) error {
	p, err := b.client(ctx)
	if err != nil {
		return err
	}
	req := p.request(b.lock)
	req.Shared = true
	if _, err := p.ask(ctx, req); !errors.Is(err, lb.ErrUnsupported) {
		return fmt.Errorf("a request for the shared mode, which it does not claim: %w, want ErrUnsupported", orNil(err))
	}
	return nil
}

// fair: who came first is served first.
func fair(ctx context.Context, b *bench) error {
	const waiters = 5
	ps, last, err := b.taken(ctx, waiters+1)
	if err != nil {
		return err
	}
	var queue []pending
	for _, p := range ps[1:] {
		queue = append(queue, p.inBackground(ctx, b.lock))
		if err := p.queued(ctx); err != nil {
			return err
		}
	}
	for i, g := range queue {
		if err := last.release(ctx); err != nil {
			return err
		}
		if last, err = g.within(b.prompt); err != nil {
			return fmt.Errorf("waiter %d of %d was not served in its turn: %w", i+1, waiters, err)
		}
	}
	return last.release(ctx)
}
