package postgres

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// transaction is a lock that a transaction holds, which is open for as long as the lock is held.
type transaction struct {
	session
	// take takes the lock in the transaction, which has begun. Its error is ErrHeld where it took nothing.
	take func(ctx context.Context, l *sqllock.Link, req lb.Request) error
	// again says that it is worth another try at once, after a transaction that took nothing has ended.
	again func(ctx context.Context, req lb.Request) (bool, error)
}

// Lock implements [sqllock.Tying].
func (c transaction) Lock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	for {
		err := c.try(ctx, l, req)
		if lb.AnswerOf(err) != lb.AnswerFailed || c.again == nil {
			return err
		}
		soon, e := c.again(ctx, req)
		switch {
		case e != nil:
			return fmt.Errorf("%w: %w", lb.ErrNotSent, e) // the connection is as good as new
		case soon:
			continue
		case req.Try:
			return err
		}
		if err := c.Env.Pause(ctx, req, lb.PollDelay); err != nil {
			return fmt.Errorf("%w: %w", lb.ErrNotSent, err)
		}
	}
}

// try is one transaction.
func (c transaction) try(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	if err := c.say(ctx, l, req, "begin", "BEGIN"); err != nil {
		return err
	}
	err := c.take(ctx, l, req)
	if errors.Is(err, lb.ErrNotSent) { // the transaction has begun
		return unsure(ctx, err)
	}
	if lb.AnswerOf(err) != lb.AnswerFailed {
		return err
	}
	if e := c.say(ctx, l, req, "rollback", "ROLLBACK"); e != nil {
		return unsure(ctx, e)
	}
	return err
}

// Unlock implements [sqllock.Tying]. Of a transaction that something has ended the server says nothing: it warns
// that there is none.
func (c transaction) Unlock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	return c.say(ctx, l, req, "commit", "COMMIT")
}

func (c transaction) say(ctx context.Context, l *sqllock.Link, req lb.Request, name, statement string) error {
	return c.Env.Send(ctx, req, name, func(ctx context.Context) error {
		ctx, cancel := c.Patient(ctx)
		defer cancel()
		if _, err := l.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("postgres: %s: %w", statement, err)
		}
		return nil
	})
}

// unsure is an error that says nothing of whether it was sent: the connection is not as good as new.
func unsure(ctx context.Context, err error) error {
	return errors.Join(ctx.Err(), errors.New(err.Error()))
}
