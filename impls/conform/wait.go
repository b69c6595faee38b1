package conform

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
	return handOver(ctx, ps, b.lock)
}

func handOver(ctx context.Context, ps []*party, lock string) error {
	holder, err := ps[0].soon(ctx, lock)
	if err != nil {
		return err
	}
	granted := ps[1].inBackground(ctx, lock)
	if err := granted.not(ps[1].moment); err != nil {
		return err
	}
	if err := holder.release(ctx); err != nil {
		return err
	}
	h, err := granted.within(ps[1].prompt)
	if err != nil {
		return err
	}
	return h.release(ctx)
}

// deadline: who stops waiting at a deadline is told so in time, and nobody is
// blocked by what it leaves behind.
func deadline(ctx context.Context, b *bench) error {
	return giveUp(ctx, b, func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, b.moment)
	})
}

// canceled: the same for one that is told to stop waiting, with others behind it.
func canceled(ctx context.Context, b *bench) error {
	return giveUp(ctx, b, func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(b.moment, cancel)
		return ctx, cancel
	})
}

// giveUp lets a client stop waiting by limit while another is queued behind it.
//
// The end may come just while a request is on its way. The clean-up of such an
// unknown outcome is another story, and for a lock that is released without an
// owner check one that ends badly; so this happens again until the outcome is
// certain, or never is.
func giveUp(ctx context.Context, b *bench, limit func(context.Context) (context.Context, context.CancelFunc)) error {
	const tries = 8
	ps, err := b.clients(ctx, 3)
	if err != nil {
		return err
	}
	for n := range tries {
		lock := fmt.Sprintf("%s-%d", b.lock, n)
		err := giveUpOnce(ctx, ps, lock, limit, n == tries-1)
		if !errors.Is(err, errUncertain) {
			return err
		}
	}
	return nil
}

var errUncertain = errors.New("the outcome is unknown")

func giveUpOnce(ctx context.Context, ps []*party, lock string, limit func(context.Context) (context.Context, context.CancelFunc), last bool) error {
	holder, err := ps[0].soon(ctx, lock)
	if err != nil {
		return err
	}
	limited, cancel := limit(ctx)
	defer cancel()
	req := ps[1].request(lock)
	impatient := inBackground(func() (*held, error) {
		_, err := ps[1].session.Acquire(limited, req)
		return nil, err
	})
	if err := ps[1].queued(ctx); err != nil {
		return err
	}
	waiting, cancelNext := context.WithCancel(ctx)
	defer cancelNext()
	next := ps[2].inBackground(waiting, lock)
	switch _, err := impatient.within(ps[1].moment + ps[1].prompt); {
	case err == nil:
		return errors.New("was granted, although another client holds it")
	case errors.Is(err, errStillWaits):
		return fmt.Errorf("%w after its context ended", err)
	case !gaveUp(err):
		return fmt.Errorf("stopped waiting with %w, want its context's error", err)
	case lb.AnswerOf(err) == lb.AnswerUnknown && !last:
		cancelNext() // whatever these leave behind: the next try has another lock
		_, _ = next.within(ps[2].prompt)
		return errUncertain
	default:
		_ = ps[1].settle(ctx, req, err)
	}
	if err := next.not(ps[2].moment); err != nil {
		return err
	}
	if err := holder.release(ctx); err != nil {
		return err
	}
	h, err := next.within(ps[2].prompt)
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
	if b.impl.Info().NoTry {
		req := ps[0].request(b.lock)
		req.Try = true
		if _, err := ps[0].ask(ctx, req); !errors.Is(err, lb.ErrUnsupported) {
			return fmt.Errorf("a try, which it says that it has not: %w, want ErrUnsupported", orNil(err))
		}
		return nil
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
	ps, holder, err := b.taken(ctx, 2)
	if err != nil {
		return err
	}
	granted := ps[1].inBackground(ctx, b.lock)
	if err := ps[1].queued(ctx); err != nil {
		return err
	}
	before := len(ps[1].heard())
	if err := granted.not(time.Second); err != nil {
		return err
	}
	if n := len(ps[1].heard()) - before; n > most {
		return fmt.Errorf("a waiter asked %d times in a second, although the server is said to wake it", n)
	}
	if err := holder.release(ctx); err != nil {
		return err
	}
	h, err := granted.within(b.prompt)
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
	req := p.request(lock)
	return inBackground(func() (*held, error) { return p.ask(ctx, req) })
}

func inBackground(ask func() (*held, error)) pending {
	done := make(pending, 1)
	go func() {
		h, err := ask()
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
