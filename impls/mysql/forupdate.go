package mysql

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

//go:embed forupdate.sql
var forUpdateTable string

// ForUpdate is the exclusive lock of a row in a transaction that is open for as
// long as the lock is held:
//
//	SELECT 1 FROM locks WHERE name = lock FOR UPDATE    the server makes it wait
//	COMMIT
//
// The row exists beforehand, in a transaction of its own, and its name is a
// unique key: then InnoDB locks this row and nothing else. See [ForUpdateNoIndex]
// for what it does otherwise.
//
// The lock ends with the connection. Nobody can have it while the server keeps
// that, which for one that has only fallen silent is 8 hours by default. Source:
// surveys of locks on databases; the MySQL manual, "InnoDB Locking".
func ForUpdate() lb.Impl {
	return algorithm(lb.Info{
		Name:       "mysql-forupdate",
		Doc:        "SELECT … FOR UPDATE of a uniquely indexed row; COMMIT releases",
		Source:     `the pessimistic database lock, as surveys present it; MySQL manual, "InnoDB Locking"`,
		Topologies: topologies,
		Requests:   forUpdateRequests,
		Reads:      sqllock.Reads,
		Own:        sqllock.Own,
		ByTheBook:  true,
		Takes:      "select-for-update",
		Tables:     true,
		InMemory:   true,
		Traits:     lb.Traits{Push: true, Session: true, LostNotice: true},
		Expect:     manual.Connected(),
	}, []string{forUpdateTable}, openForUpdate("lockbench_forupdate"))
}

// forUpdateRequests begin with those of every acquisition; a row is made once.
var forUpdateRequests = slices.Concat([]string{"select-for-update", "commit", "create"}, sqllock.Requests)

func openForUpdate(table string) func(context.Context, session) (lb.Client, error) {
	return func(ctx context.Context, s session) (lb.Client, error) {
		// With autocommit off the SELECT begins its transaction without a request
		// of its own for that.
		return openTied(ctx, s, map[string]string{"autocommit": "0"}, &forUpdate{session: s, table: table})
	}
}

type forUpdate struct {
	session
	table string
}

func (c *forUpdate) Lock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	for {
		err := c.selectForUpdate(ctx, l, req)
		if errors.Is(err, sql.ErrNoRows) {
			if err = c.create(ctx, l, req); err == nil {
				continue
			}
		}
		if !errors.Is(err, lb.ErrHeld) || req.Try {
			return err
		}
		if err := c.Env.Pause(ctx, req, lb.PollDelay); err != nil {
			return err
		}
	}
}

// create makes the lock's row, from another connection, once the transaction that
// found none has let go of the gap where it belongs. That of another client may hold
// the gap as well, and is waited for.
func (c *forUpdate) create(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	if err := c.Unlock(ctx, l, req); err != nil {
		return errors.Join(ctx.Err(), errors.New(err.Error())) // sent or not: the connection is not as good as new
	}
	err := c.Env.Send(ctx, req, "create", func(ctx context.Context) error {
		ctx, cancel := c.Patient(ctx)
		defer cancel()
		return c.Env.Wait(ctx, req, "gap", func(ctx context.Context) error {
			_, err := c.DB.ExecContext(ctx, "INSERT IGNORE INTO "+c.table+" (name) VALUES (?)", []byte(req.Lock))
			return err
		})
	})
	switch {
	case inTheWay(err):
		return lb.ErrHeld
	case err != nil:
		return fmt.Errorf("mysql: make the row of the lock: %w", err)
	}
	return nil
}

// selectForUpdate waits for the row. That the server gave up waiting, as it does
// after 50 s, or took this one for the victim of a deadlock, undid nothing but the
// request.
func (c *forUpdate) selectForUpdate(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	query := "SELECT 1 FROM " + c.table + " WHERE name = ? FOR UPDATE"
	if req.Try {
		query += " NOWAIT"
	}
	return c.Env.Send(ctx, req, "select-for-update", func(ctx context.Context) error {
		err := c.Env.Wait(ctx, req, "row", func(ctx context.Context) error {
			var one int
			return l.QueryRowContext(ctx, query, []byte(req.Lock)).Scan(&one)
		})
		switch {
		case inTheWay(err):
			return lb.ErrHeld
		case err != nil:
			return fmt.Errorf("mysql: SELECT FOR UPDATE: %w", err)
		}
		return nil
	})
}

func (c *forUpdate) Unlock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	return c.Env.Send(ctx, req, "commit", func(ctx context.Context) error {
		if _, err := l.ExecContext(ctx, "COMMIT"); err != nil {
			return fmt.Errorf("mysql: COMMIT: %w", err)
		}
		return nil
	})
}
