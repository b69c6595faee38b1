package peers

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/postgres"
)

// onPostgres is the pool of a client whose library sends statements to PostgreSQL, as database/sql keeps it where
// nobody has said anything, over pgx. Each statement is a step.
type onPostgres struct {
	env *lb.Env
	*sql.DB
	// name is what a statement is called, and who sends it.
	name func(statement string) (string, lb.Actor)
	// answered hears what became of a statement of an acquisition: nil, and the first column of its first row, or an
	// error, which is [sql.ErrNoRows] where there was none.
	answered func(ctx context.Context, name string, first driver.Value, err error) error
	// tied: the library's locks are its connections'.
	tied bool
}

func (p *onPostgres) open(ctx context.Context) error {
	if len(p.env.Servers) == 0 {
		return errors.New("the run has no server")
	}
	cfg, err := backend.Config(p.env.Servers[0])
	if err != nil {
		return err
	}
	// Each acquisition begins with the same request: the driver would ask whether a connection lives that was idle for a second.
	quiet := stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false })
	p.DB = sql.OpenDB(connector{stdlib.GetConnector(*cfg, quiet), p})
	if err := p.PingContext(ctx); err != nil {
		_ = p.Close()
		return fmt.Errorf("connect to %s: %w", p.env.Servers[0], err)
	}
	return nil
}

type servedKey struct{}

// serving says which acquisition the statements under the returned context are for.
func serving(ctx context.Context, req lb.Request) context.Context {
	return context.WithValue(ctx, servedKey{}, req)
}

type connector struct {
	driver.Connector
	of *onPostgres
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := made.(*stdlib.Conn)
	if pg := conn.Conn().PgConn(); c.of.tied {
		c.of.env.Session(fmt.Sprintf("%d@%s", pg.PID(), pg.Conn().LocalAddr()))
	}
	return &pgConn{conn, c.of}, nil
}

// pgConn is the driver's connection.
type pgConn struct {
	*stdlib.Conn
	of *onPostgres
}

// step sends something that belongs to an acquisition.
func (c *pgConn) step(ctx context.Context, name string, actor lb.Actor, send func(context.Context) error) error {
	req, ok := ctx.Value(servedKey{}).(lb.Request)
	if !ok {
		return send(ctx)
	}
	if actor != lb.Main {
		ctx = lb.As(ctx, actor)
	}
	return c.of.env.Send(ctx, req, name, send)
}

// QueryContext is the driver's.
func (c *pgConn) QueryContext(ctx context.Context, statement string, args []driver.NamedValue) (driver.Rows, error) {
	var answer *peeked
	name, actor := c.of.name(statement)
	err := c.step(ctx, name, actor, func(ctx context.Context) error {
		rows, err := c.Conn.QueryContext(ctx, statement, args)
		if err == nil {
			answer = peek(rows)
			err = answer.err
		}
		return c.of.heard(ctx, name, answer, err)
	})
	if answer != nil { // which the library reads for itself
		return answer, nil
	}
	return nil, err
}

// ExecContext is the driver's, which has a result beside an error, too.
func (c *pgConn) ExecContext(ctx context.Context, statement string, args []driver.NamedValue) (driver.Result, error) {
	var result driver.Result
	name, actor := c.of.name(statement)
	err := c.step(ctx, name, actor, func(ctx context.Context) error {
		got, err := c.Conn.ExecContext(ctx, statement, args)
		if err == nil {
			result = got
		}
		return c.of.heard(ctx, name, nil, err)
	})
	if result != nil {
		return result, nil
	}
	return nil, err
}

func (p *onPostgres) heard(ctx context.Context, name string, answer *peeked, err error) error {
	if errors.Is(err, io.EOF) && answer != nil {
		err = sql.ErrNoRows
	}
	var first driver.Value
	if err == nil && answer != nil {
		first = answer.row[0]
	}
	if p.answered == nil {
		return err
	}
	return p.answered(ctx, name, first, err)
}

// peeked are rows of which the first has been read.
type peeked struct {
	driver.Rows
	row  []driver.Value
	err  error
	told bool
}

func peek(rows driver.Rows) *peeked {
	p := &peeked{Rows: rows, row: make([]driver.Value, len(rows.Columns()))}
	p.err = rows.Next(p.row)
	return p
}

// Next implements [driver.Rows].
func (p *peeked) Next(row []driver.Value) error {
	if p.told {
		return p.Rows.Next(row)
	}
	p.told = true
	copy(row, p.row)
	return p.err
}

// refused: the server has answered, and undone the statement.
func refused(err error) bool { return errors.As(err, new(*pgconn.PgError)) }
