package mysql

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
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
	return algorithm{
		info: lb.Info{
			Name:       "mysql-forupdate",
			Doc:        "SELECT … FOR UPDATE of a uniquely indexed row; COMMIT releases",
			Source:     `the pessimistic database lock, as surveys present it; MySQL manual, "InnoDB Locking"`,
			Topologies: topologies,
			Steps:      forUpdateSteps,
			Traits:     lb.Traits{Push: true, LostNotice: true},
			Expect:     connected(),
		},
		tables: []string{forUpdateTable},
		open:   openForUpdate("lock_forupdate"),
	}
}

// forUpdateSteps begin with those of every acquisition; a row is looked for once a
// session, and made once.
var forUpdateSteps = slices.Concat([]string{"before-select-for-update", "after-select-for-update", "before-commit", "after-commit",
	"before-look", "after-look", "before-create", "after-create"}, tiedSteps)

func openForUpdate(table string) func(session) (lb.Client, error) {
	return func(s session) (lb.Client, error) {
		// With autocommit off the SELECT begins its transaction without a request
		// of its own for that.
		return openTied(s, map[string]string{"autocommit": "0"}, &forUpdate{session: s, table: table, made: map[string]bool{}})
	}
}

type forUpdate struct {
	session
	table string
	made  map[string]bool // locks whose rows are known to exist
}

func (c *forUpdate) lock(ctx context.Context, l *link, req lb.Request) error {
	for {
		err := c.ensure(ctx, req)
		if err == nil {
			err = c.selectForUpdate(ctx, l, req)
		}
		if !errors.Is(err, lb.ErrHeld) || req.Try {
			return err
		}
		if err := c.env.Pause(ctx, req, compose.RetryDelay); err != nil {
			return err
		}
	}
}

// ensure makes the lock's row if there is none; it asks once a session. It first
// looks without a lock: to insert what is there would wait for the row's holder.
func (c *forUpdate) ensure(ctx context.Context, req lb.Request) error {
	if c.made[req.Lock] {
		return nil
	}
	if err := c.env.Step(ctx, "before-look", req); err != nil {
		return err
	}
	var rows int
	if err := c.get(ctx, []any{&rows}, "SELECT COUNT(*) FROM "+c.table+" WHERE name = ?", []byte(req.Lock)); err != nil {
		return fmt.Errorf("mysql: look for the row of the lock: %w", err)
	}
	if err := c.env.Step(ctx, "after-look", req); err != nil {
		return err
	}
	if rows == 0 {
		if err := c.create(ctx, req); err != nil {
			return err
		}
	}
	c.made[req.Lock] = true
	return nil
}

func (c *forUpdate) create(ctx context.Context, req lb.Request) error {
	if err := c.env.Step(ctx, "before-create", req); err != nil {
		return err
	}
	_, err := c.exec(ctx, "INSERT IGNORE INTO "+c.table+" (name) VALUES (?)", []byte(req.Lock))
	switch {
	case inTheWay(err):
		return lb.ErrHeld
	case err != nil:
		return fmt.Errorf("mysql: make the row of the lock: %w", err)
	}
	return c.env.Step(ctx, "after-create", req)
}

// selectForUpdate waits for the row. That the server gave up waiting, as it does
// after 50 s, or took this one for the victim of a deadlock, undid nothing but the
// request.
func (c *forUpdate) selectForUpdate(ctx context.Context, l *link, req lb.Request) error {
	if err := c.env.Step(ctx, "before-select-for-update", req); err != nil {
		return err
	}
	query := "SELECT 1 FROM " + c.table + " WHERE name = ? FOR UPDATE"
	if req.Try {
		query += " NOWAIT"
	}
	err := c.env.Wait(ctx, "row", req, func(ctx context.Context) error {
		var one int
		return l.QueryRowContext(ctx, query, []byte(req.Lock)).Scan(&one)
	})
	switch {
	case inTheWay(err):
		return lb.ErrHeld
	case err != nil:
		return fmt.Errorf("mysql: SELECT FOR UPDATE: %w", err)
	}
	return c.env.Step(ctx, "after-select-for-update", req)
}

func (c *forUpdate) unlock(ctx context.Context, l *link, req lb.Request) error {
	if err := c.env.Step(ctx, "before-commit", req); err != nil {
		return err
	}
	_, err := l.ExecContext(ctx, "COMMIT")
	if err := c.env.Step(ctx, "after-commit", req); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("mysql: COMMIT: %w", err)
	}
	return nil
}
