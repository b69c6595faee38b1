package mysql

import (
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"
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

// refused: the server has answered, and undone the statement.
func refused(err error) bool { return errors.As(err, new(*mysql.MySQLError)) }

// refusal is that of an INSERT, too.
func refusal(what string, err error) error {
	if is(err, duplicateKey) {
		return lb.ErrHeld
	}
	return database.Refusal(what, err)
}
