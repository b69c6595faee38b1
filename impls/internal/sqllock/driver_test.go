package sqllock_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// server is one that gives the answers that a test wants, also those that a real one can't be made to give.
type server struct {
	answer func(ctx context.Context, statement string) (int64, error)

	mu   sync.Mutex
	made int64    // connections
	open int      // of them
	said []string // statements, by all
}

func (s *server) Driver() driver.Driver { return nil }

// Connect implements [driver.Connector].
func (s *server) Connect(context.Context) (driver.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	s.open++
	return &conn{server: s, id: s.made}, nil
}

// heard are the statements since it was last asked.
func (s *server) heard() (said []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	said, s.said = s.said, nil
	return said
}

func (s *server) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

type conn struct {
	*server
	id int64
}

func (c *conn) Prepare(string) (driver.Stmt, error) { panic("nothing is prepared") }
func (c *conn) Begin() (driver.Tx, error)           { panic("nothing is begun") }

func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	return nil
}

func (c *conn) ask(ctx context.Context, statement string) (int64, error) {
	c.mu.Lock()
	c.said = append(c.said, statement)
	c.mu.Unlock()
	if statement == whoAmI {
		return c.id, nil
	}
	return c.answer(ctx, statement)
}

func (c *conn) ExecContext(ctx context.Context, statement string, _ []driver.NamedValue) (driver.Result, error) {
	n, err := c.ask(ctx, statement)
	return driver.RowsAffected(n), err
}

func (c *conn) QueryContext(ctx context.Context, statement string, _ []driver.NamedValue) (driver.Rows, error) {
	n, err := c.ask(ctx, statement)
	if err != nil {
		return nil, err
	}
	columns := []string{"n", "from"}
	if statement != whoAmI {
		columns = columns[:1]
	}
	return &rows{columns: columns, n: n}, nil
}

// rows are one row, of a number and, perhaps, of an empty text.
type rows struct {
	columns []string
	n       int64
	read    bool
}

func (r *rows) Columns() []string { return r.columns }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, row[0] = true, r.n
	for i := range row[1:] {
		row[1+i] = ""
	}
	return nil
}

const (
	ttl                = time.Minute // nobody asks whether a connection lives before a third of it
	whoAmI, find, kill = "who am I", "find", "kill %d"
)

func env(clock lb.Clock) *lb.Env {
	return &lb.Env{Client: "c", Servers: []string{"server"}, TTL: ttl, Clock: clock, Rand: rand.New(rand.NewPCG(1, 1))}
}

func (s *server) session(t *testing.T, clock lb.Clock) sqllock.Session {
	t.Helper()
	session, err := database(s).Dial(t.Context(), env(clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func database(s *server) sqllock.Database {
	return sqllock.Database{
		Name:     "database",
		Pool:     func(*lb.Env) (*sql.DB, error) { return sql.OpenDB(s), nil },
		InTheWay: func(err error) bool { return err == errInTheWay },
		Refused:  func(err error) bool { return err == errRefused },
	}
}
