package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// ForUpdate is the exclusive lock of a row in a transaction that is open for as long as the lock is held:
//
//	BEGIN
//	SELECT 1 FROM locks WHERE name = lock FOR UPDATE     the server makes it wait
//	COMMIT
//
// The row is made when there is none. The lock ends with the connection. Source: surveys of locks on databases;
// the PostgreSQL manual, "Row-Level Locks".
func ForUpdate() lb.Impl {
	info := rowInfo("postgres-forupdate")
	info.Doc = "SELECT … FOR UPDATE of a row; COMMIT releases"
	info.Source = `the pessimistic database lock, as surveys present it; PostgreSQL manual, "Row-Level Locks"`
	info.Traits.Push = true
	return rowLock(info, "lockbench_forupdate", "FOR UPDATE", "FOR UPDATE NOWAIT")
}

// SkipLocked is the lock of a job in a queue:
//
//	BEGIN
//	SELECT 1 FROM jobs WHERE name = lock FOR UPDATE SKIP LOCKED     no row: somebody has it; ROLLBACK, try again
//	COMMIT
//
// Whoever works on a job keeps its row locked, and the others pass it over. Nobody waits in the server. Source:
// the PostgreSQL manual, "The Locking Clause", on queues.
func SkipLocked() lb.Impl {
	info := rowInfo("postgres-skip-locked")
	info.Doc = "a job in a queue: SELECT … FOR UPDATE SKIP LOCKED; COMMIT releases; retry loop"
	info.Source = `PostgreSQL manual, SELECT, "The Locking Clause"`
	return rowLock(info, "lockbench_skip_locked", "FOR UPDATE SKIP LOCKED", "FOR UPDATE SKIP LOCKED")
}

func rowInfo(name string) lb.Info {
	return lb.Info{
		Name:       name,
		Topologies: topologies,
		Requests:   slices.Concat([]string{"begin", "select", "commit", "rollback", "create"}, sqllock.Requests),
		Reads:      sqllock.Reads,
		Own:        slices.Concat([]string{"begin"}, sqllock.Own),
		Takes:      "select",
		Tables:     true,
		InMemory:   true,
		Traits:     lb.Traits{Session: true, LostNotice: true},
		Expect:     connected(),
	}
}

// rowLock is a lock of a row of the table, which is taken by one clause where it may wait, and by the other where
// it only tries.
func rowLock(info lb.Info, table, wait, try string) lb.Impl {
	return algorithm(info, []string{"CREATE TABLE IF NOT EXISTS " + table + " (name bytea PRIMARY KEY)"}, func(ctx context.Context, s session) (lb.Client, error) {
		r := rows{s, table, wait, try}
		return openTied(ctx, s, transaction{session: s, take: r.take, again: r.create})
	})
}

// rows are the locks of a table.
type rows struct {
	session
	table, wait, try string
}

func (c rows) take(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	clause := c.wait
	if req.Try {
		clause = c.try
	}
	return c.Env.Send(ctx, req, "select", func(ctx context.Context) error {
		err := c.Env.Wait(ctx, req, "row", func(ctx context.Context) error {
			var one int
			return l.QueryRowContext(ctx, "SELECT 1 FROM "+c.table+" WHERE name = $1 "+clause, []byte(req.Lock)).Scan(&one)
		})
		switch {
		case inTheWay(err), errors.Is(err, sql.ErrNoRows):
			return lb.ErrHeld
		case err != nil:
			return fmt.Errorf("postgres: SELECT … %s: %w", clause, err)
		}
		return nil
	})
}

// create makes the lock's row, from another connection, and reports whether there was none.
func (c rows) create(ctx context.Context, req lb.Request) (made bool, err error) {
	r, err := c.Exec(ctx, req, "create", "INSERT INTO "+c.table+" (name) VALUES ($1) ON CONFLICT DO NOTHING", []byte(req.Lock))
	if err != nil {
		return false, fmt.Errorf("postgres: make the row of the lock: %w", err)
	}
	return r.Rows > 0, nil
}
