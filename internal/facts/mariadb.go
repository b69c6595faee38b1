package facts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/sqlrow"
	"github.com/lockbench/lockbench/lab"
)

func mariadbQuestions() []Question {
	crowded := with("mariadb", fmt.Sprintf("max-connections=%d", fewConnections))
	mutual := with("mariadb-replica", "bind-address={addr}") // no address moves, so each has its own only
	mutual.Virtual = false
	return []Question{
		{Name: "mariadb-index", Asks: "whom FOR UPDATE of one row keeps waiting, by index and by size of the table", Topology: topology("mariadb"), ask: index},
		{Name: "mariadb-connections", Asks: "what callers see when waiters of FOR UPDATE have all connections", Topology: crowded, ask: connections},
		{Name: "mariadb-mutual", Asks: "what two databases that copy each other make of one unique key", Topology: mutual, ask: mutually},
	}
}

// with is a topology whose servers have one more option.
func with(name, option string) lab.Topology {
	t, err := topology(name).With(lab.Own{Options: []string{option}})
	if err != nil {
		panic(err)
	}
	return t
}

// open connects to a server when it is asked for something.
func open(endpoint string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName, cfg.Timeout = "lockbench", "tcp", endpoint, "lockbench", 5*time.Second
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// refusal is the number of the error with which the server refused something, 0 for none.
func refusal(err error) uint16 {
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return refused.Number
	}
	return 0
}

// The errors that are looked for.
const (
	errTooMany   = 1040 // ER_CON_COUNT_ERROR
	errDuplicate = 1062 // ER_DUP_ENTRY
	errWaited    = 1205 // ER_LOCK_WAIT_TIMEOUT, also of NOWAIT
)

// indexes are the ways in which the column is indexed that names a lock.
var indexes = []struct{ name, column string }{
	{"unique", ", UNIQUE KEY (name)"},
	{"plain", ", KEY (name)"},
	{"no", ""},
}

// sizes of tables: two rows, a few, and many.
var sizes = []int{2, 20, 2000}

// index locks one row of each table, and tries the row of another name, and to add one.
func index(ctx context.Context, at bench) (found []Fact, err error) {
	db, err := open(at.endpoints()[0])
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, ix := range indexes {
		for _, rows := range sizes {
			table := fmt.Sprintf("%s_%d", ix.name, rows)
			if err := fill(ctx, db, table, ix.column, rows); err != nil {
				return nil, err
			}
			facts, err := neighbours(ctx, db, table, fmt.Sprintf("%s-index-of-%d-rows", ix.name, rows))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", table, err)
			}
			found = append(found, facts...)
		}
	}
	return found, nil
}

// name is that of a row; the names in between are free.
func name(row int) string { return fmt.Sprintf("lock-%04d", 2*row) }

func fill(ctx context.Context, db *sql.DB, table, index string, rows int) error {
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+table+" (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(64) NOT NULL, owner VARCHAR(64)"+index+") ENGINE=InnoDB"); err != nil {
		return err
	}
	values, args := make([]string, rows), make([]any, rows)
	for i := range rows {
		values[i], args[i] = "(?)", name(i)
	}
	_, err := db.ExecContext(ctx, "INSERT INTO "+table+" (name) VALUES "+strings.Join(values, ","), args...)
	if err == nil {
		_, err = db.ExecContext(ctx, "ANALYZE TABLE "+table)
	}
	return err
}

// querier is a transaction, or a connection that ends one with each request.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// lockRow reads the row of a name, and locks it if the query says so.
func lockRow(ctx context.Context, by querier, query, name string) error {
	var owner sql.NullString
	return by.QueryRowContext(ctx, query, name).Scan(&owner)
}

// neighbours is whom the lock of the table's first row keeps waiting.
func neighbours(ctx context.Context, db *sql.DB, table, of string) (found []Fact, err error) {
	held, locked := name(0), name(1)
	query := "SELECT owner FROM " + table + " WHERE name = ? FOR UPDATE"
	holder, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer holder.Rollback()
	if err := lockRow(ctx, holder, query, held); err != nil {
		return nil, err
	}
	used, err := usedIndex(ctx, holder, query, held)
	if err != nil {
		return nil, err
	}
	other, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer other.Rollback()
	waited := lockRow(ctx, other, query+" NOWAIT", locked)
	if waited != nil && refusal(waited) != errWaited {
		return nil, waited
	}
	// A transaction of its own: the one above has locks, too.
	if err := other.Rollback(); err != nil {
		return nil, err
	}
	adds, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer adds.Rollback()
	if _, err := adds.ExecContext(ctx, "SET innodb_lock_wait_timeout = 1"); err != nil {
		return nil, err
	}
	_, kept := adds.ExecContext(ctx, "INSERT INTO "+table+" (name) VALUES (?)", held+"-next")
	if kept != nil && refusal(kept) != errWaited {
		return nil, kept
	}
	by := "all rows are looked at"
	if used {
		by = "the index is used"
	}
	return []Fact{
		{of + "-is-used", used, by},
		{of + "-leaves-other-locks-alone", waited == nil, fmt.Sprintf("while %s is locked, FOR UPDATE of %s %s", held, locked, waits(waited))},
		{of + "-lets-others-add-rows", kept == nil, fmt.Sprintf("while %s is locked, an INSERT of %s-next %s", held, held, waits(kept))},
	}, nil
}

func waits(err error) string {
	if err == nil {
		return "is done at once"
	}
	return "has to wait"
}

// usedIndex is whether the query finds its row by the index of the column.
func usedIndex(ctx context.Context, tx *sql.Tx, query string, args ...any) (bool, error) {
	rows, err := tx.QueryContext(ctx, "EXPLAIN "+query, args...)
	if err != nil {
		return false, err
	}
	plan, err := sqlrow.First(rows)
	return plan["key"] == "name", err
}

// fewConnections are all that the server takes at a time.
const fewConnections = 20

// connections has more callers than that ask for one lock, and one for another.
func connections(ctx context.Context, at bench) ([]Fact, error) {
	db, err := open(at.endpoints()[0])
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := fill(ctx, db, "locks", ", UNIQUE KEY (name)", 2); err != nil {
		return nil, err
	}
	holder, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer holder.Rollback()
	const query = "SELECT owner FROM locks WHERE name = ? FOR UPDATE"
	if err := lockRow(ctx, holder, query, name(0)); err != nil {
		return nil, err
	}
	const callers = 2 * fewConnections
	waiting, done := context.WithCancel(ctx)
	var crowd sync.WaitGroup
	refused := make(chan error, callers)
	for range callers {
		crowd.Go(func() {
			err := lockRow(waiting, db, query, name(0))
			if waiting.Err() == nil {
				refused <- err
			}
		})
	}
	defer crowd.Wait()
	defer done()
	if err := sleep(ctx, 2*time.Second); err != nil {
		return nil, err
	}
	turnedAway, says := len(refused), ""
	for range turnedAway {
		err := <-refused
		if refusal(err) != errTooMany {
			return nil, fmt.Errorf("a caller of a held lock was told: %w", err)
		}
		says = err.Error()
	}
	other := lockRow(ctx, db, query, name(1))
	if other != nil && refusal(other) != errTooMany {
		return nil, other
	}
	saw := "is served"
	if other != nil {
		saw = "is told the same"
	}
	return []Fact{
		{"waiters-use-up-connections", turnedAway > 0, fmt.Sprintf("of %s of one lock, at a server that takes %s, %d wait and %d are told: %s", english.Count(callers, "more caller"), english.Count(fewConnections, "connection"), callers-turnedAway, turnedAway, says)},
		{"other-locks-are-refused-too", other != nil, "meanwhile a caller of another lock, which nobody holds, " + saw},
	}, nil
}
