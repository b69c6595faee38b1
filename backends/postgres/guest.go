package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockbench/lockbench/lab"
)

// Guest is how lockbench is let in. A server that copies from another says so when it is to
// write, and so each is asked.
func Guest() *lab.Guest {
	return &lab.Guest{Login: login, Visit: newVisit, Means: means, OwnTLS: true, Alone: true}
}

// The codes of errors, as PostgreSQL has them.
const (
	readOnly      = "25006"
	notAuthorized = "28"    // a class of them
	notLikeThis   = "28000" // of it, whatever the password
	noDatabase    = "3D000"
	duplicateKey  = "23505"
	duplicateName = "42710"
	noRight       = "42501"
	noSuchTable   = "42P01"
	tableExists   = "42P07"
	diskFull      = "53100"
	memoryFull    = "53200"
)

// code is that of an error of the server's, "" of any other.
func code(err error) string {
	if said := (*pgconn.PgError)(nil); errors.As(err, &said) {
		return said.Code
	}
	return ""
}

// means knows the codes.
func means(err error) error {
	switch is := code(err); {
	case is == notLikeThis:
		return fmt.Errorf("%w: %w", lab.ErrNotLikeThis, err)
	case strings.HasPrefix(is, notAuthorized), is == noRight:
		return fmt.Errorf("%w: %w", lab.ErrNotLetIn, err)
	case is == noDatabase:
		return fmt.Errorf("%w: %w", lab.ErrNoDatabase, err)
	case is == diskFull, is == memoryFull:
		return fmt.Errorf("%w: %w", lab.ErrNoRoom, err)
	}
	return err
}
