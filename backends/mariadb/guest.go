package mariadb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/lockbench/lockbench/lab"
)

// Guest is how lockbench is let in.
func Guest() *lab.Guest {
	return &lab.Guest{Login: login, Visit: newVisit, Means: means, OwnTLS: true}
}

// means knows the numbers of errors, and the system's own number in the text of others.
func means(err error) error {
	var said *mysql.MySQLError
	if !errors.As(err, &said) {
		return err
	}
	switch {
	case slices.Contains(denied, said.Number):
		return fmt.Errorf("%w: %w", lab.ErrNotLetIn, err)
	case said.Number == noDatabase:
		return fmt.Errorf("%w: %w", lab.ErrNoDatabase, err)
	case said.Number == diskFull, said.Number == tableFull, strings.Contains(said.Message, "errno: 28"), strings.Contains(said.Message, "No space"):
		return fmt.Errorf("%w: %w", lab.ErrNoRoom, err)
	}
	return err
}

// The numbers of errors, as MySQL has them.
const (
	diskFull    = 1021
	noDatabase  = 1049
	tableExists = 1050
	tableFull   = 1114
	noSuchTable = 1146
)

// denied are those by which somebody has no right: to a database, to anything, to a table, a
// column, what takes more rights, and to anything without a password.
var denied = []uint16{1044, 1045, 1142, 1143, 1227, 1698}
