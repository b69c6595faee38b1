package conform

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// serverRefuses: where no server listens, Open fails, or else Acquire does.
func serverRefuses(ctx context.Context, b *bench) error { return nobodyThere(ctx, b, refuses) }

// serverHangs: the same for a server that accepts and never answers.
func serverHangs(ctx context.Context, b *bench) error { return nobodyThere(ctx, b, hangs) }

func nobodyThere(ctx context.Context, b *bench, m mode) error {
	p, err := b.stranger()
	if err != nil {
		return err
	}
	p.set(m)
	if err := p.inTime(ctx, "Open", func(ctx context.Context) error { return p.open(ctx, b.impl) }); err != nil {
		return ignoreFailed(err)
	}
	return p.mustFail(ctx, "Acquire", func(ctx context.Context) error {
		_, err := p.session.Acquire(ctx, p.request(b.lock))
		return err
	})
}

// serverHangsLater: the same for one that worked before.
func serverHangsLater(ctx context.Context, b *bench) error {
	ps, h, err := b.taken(ctx, 1)
	if err != nil {
		return err
	}
	p := ps[0]
	p.hang()
	if err := p.mustFail(ctx, "Release", func(ctx context.Context) error { return p.session.Release(ctx, h.req) }); err != nil {
		return err
	}
	return p.mustFail(ctx, "Acquire", func(ctx context.Context) error {
		_, err := p.session.Acquire(ctx, p.request(b.lock+"-other"))
		return err
	})
}

// failed is an error that the algorithm returned in time, as it should.
type failed struct{ error }

func (f failed) Unwrap() error { return f.error }

func ignoreFailed(err error) error {
	if errors.As(err, new(failed)) {
		return nil
	}
	return err
}

// inTime wants f to return soon after its context has ended.
func (p *party) inTime(ctx context.Context, what string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.willing)
	defer cancel()
	return within(what+" with a deadline of "+p.willing.String(), p.willing+p.grace, func() error {
		if err := f(ctx); err != nil {
			return failed{err}
		}
		return nil
	})
}

// mustFail wants an error, in time, that does not claim an answer of the server.
func (p *party) mustFail(ctx context.Context, what string, f func(context.Context) error) error {
	err := p.inTime(ctx, what, f)
	switch {
	case err == nil:
		return fmt.Errorf("%s succeeded, although no server answers", what)
	case errors.Is(err, lb.ErrHeld), errors.Is(err, lb.ErrLost):
		return fmt.Errorf("%s answered for the server: %w", what, err)
	}
	return ignoreFailed(err)
}
