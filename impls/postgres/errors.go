package postgres

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The server's answers that an algorithm must tell apart, by SQLSTATE.
const (
	serialization       = "40001"
	deadlock            = "40P01" // two waited for each other, and this one had to give way
	lockNotAvailable    = "55P03" // NOWAIT, or waited for too long
	connectionException = "08"    // a class of them
	completionUnknown   = "40003" // whether the statement was done
	adminShutdown       = "57P01" // somebody has ended the session, or the server
	idleTimeout         = "57P05" // the server has ended a session that said nothing
)

func is(err error, codes ...string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && slices.Contains(codes, answer.Code)
}

// inTheWay: others were; the statement has been undone and can be sent again.
func inTheWay(err error) bool {
	return is(err, serialization, deadlock, lockNotAvailable)
}

// refused: the server has answered, and undone the statement. A pooler that has lost its server says so as the server's
// answer, and does not know what became of the statement.
func refused(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code != completionUnknown && !strings.HasPrefix(answer.Code, connectionException)
}
