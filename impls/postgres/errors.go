package postgres

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	lb "github.com/lockbench/lockbench"
)

// The server's answers that an algorithm must tell apart, by SQLSTATE.
const (
	serialization    = "40001"
	deadlock         = "40P01" // two waited for each other, and this one had to give way
	lockNotAvailable = "55P03" // NOWAIT, or waited for too long
	adminShutdown    = "57P01" // somebody has ended the session, or the server
	idleTimeout      = "57P05" // the server has ended a session that said nothing
)

func is(err error, codes ...string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && slices.Contains(codes, answer.Code)
}

// inTheWay: others were; the statement has been undone and can be sent again.
func inTheWay(err error) bool {
	return is(err, serialization, deadlock, lockNotAvailable)
}

// refusal translates the error of a statement that should have taken the lock. A statement that the server
// answered with an error has left nothing behind.
func refusal(what string, err error) error {
	switch {
	case inTheWay(err):
		return lb.ErrHeld
	case errors.As(err, new(*pgconn.PgError)):
		return lb.NoEffect(fmt.Errorf("postgres: %s: %w", what, err))
	}
	return lb.Unsent(fmt.Errorf("postgres: %s: %w", what, err))
}
