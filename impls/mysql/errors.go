package mysql

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// The server's answers that an algorithm must tell apart.
const (
	duplicateKey    = 1062 // somebody's row is there
	noSuchThread    = 1094 // the connection to be killed is gone
	lockWaitTimeout = 1205 // waited too long for somebody's row, or NOWAIT (MariaDB)
	deadlock        = 1213 // two waited for each other, and this one had to give way
	lockNotFree     = 3572 // NOWAIT (MySQL)
)

func is(err error, numbers ...uint16) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && slices.Contains(numbers, answer.Number)
}

// inTheWay: others were; the statement has been undone and can be sent again.
func inTheWay(err error) bool { return is(err, lockWaitTimeout, deadlock, lockNotFree) }

// refusal translates the error of a statement that should have taken the lock. A
// statement that the server answered with an error has left nothing behind.
func refusal(what string, err error) error {
	switch {
	case inTheWay(err), is(err, duplicateKey):
		return lb.ErrHeld
	case errors.As(err, new(*mysql.MySQLError)):
		return lb.NoEffect(fmt.Errorf("mysql: %s: %w", what, err))
	}
	return lb.Unsent(fmt.Errorf("mysql: %s: %w", what, err))
}

// released turns the number of rows given up into the answer of a release.
func released(r sqllock.Result, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("mysql: release: %w", err)
	case r.Rows == 0:
		return lb.ErrLost
	}
	return nil
}
