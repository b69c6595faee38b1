package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// commands are what people do to a MariaDB server.
var commands = map[lab.Operation]lab.Command{
	lab.KillSession: killSession,
	lab.AlterTable:  alterTable,
	lab.IdleTimeout: closeIdle,
	lab.Snapshot:    snapshot,
}

// killSession ends the connections that come from a client's host.
func killSession(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = on(ctx, at.Endpoint, func(db *sql.DB) error {
		ids, err := from(ctx, db, at.Client)
		for _, id := range ids {
			if _, gone := db.ExecContext(ctx, "KILL ?", id); gone == nil { // else it has just ended by itself
				e.Count++
			}
		}
		e.Told = fmt.Sprintf("killed %s from %s", english.Count(e.Count, "connection"), at.Client)
		return err
	})
	return e, err
}

// from are the connections that come from a client's host.
func from(ctx context.Context, db *sql.DB, host string) ([]int64, error) {
	return column[int64](ctx, db, "SELECT ID FROM information_schema.PROCESSLIST WHERE HOST LIKE ?", host+":%")
}

// addedColumn is what the change of the schema adds, and takes away again.
const addedColumn = "lockbench_added"

// alterTable adds a column to each table that locks are kept in. The statement waits
// for every transaction that uses the table, and all that come after wait for the statement,
// so that it ends, perhaps, only when the command is taken back.
func alterTable(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	var tables []string
	err = on(ctx, at.Endpoint, func(db *sql.DB) (err error) {
		tables, err = column[string](ctx, db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'lockbench'")
		return err
	})
	if err == nil && len(tables) == 0 {
		err = errors.New("there is no table of locks")
	}
	if err != nil {
		return e, err
	}
	start, ended := time.Now(), make(chan error, 1)
	var took time.Duration
	go func() {
		err := alterAll(context.WithoutCancel(ctx), at, tables, "ADD COLUMN "+addedColumn+" INT")
		took = time.Since(start)
		ended <- err
	}()
	e.End = func(ctx context.Context) (lab.Effect, error) {
		select {
		case err = <-ended:
		case <-ctx.Done():
			err = fmt.Errorf("the tables are still being altered: %w", ctx.Err())
		}
		if err != nil {
			return lab.Effect{}, err
		}
		return lab.Effect{Count: len(tables), Told: fmt.Sprintf("added a column to %s within %.3f s", strings.Join(tables, ", "), took.Seconds())},
			alterAll(ctx, at, tables, "DROP COLUMN "+addedColumn)
	}
	return e, nil
}

// alterAll does the same to several tables.
func alterAll(ctx context.Context, at lab.Target, tables []string, what string) error {
	const patience = 4 // seconds; less than the connection waits
	return on(ctx, at.Endpoint, func(db *sql.DB) error {
		for _, table := range tables {
			err := inTurn(func() error {
				_, err := db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE lockbench.`%s` WAIT %d %s", table, patience, what))
				return err
			})
			if err != nil {
				return fmt.Errorf("ALTER TABLE %s: %w", table, err)
			}
		}
		return nil
	})
}

// inTurn has a statement wait for those who use the tables, and again where they took longer than it waits
// once: a holder may work for some leases in its transaction, and those behind it, too.
func inTurn(wait func() error) (err error) {
	const times, lockWaitTimeout = 4, 1205
	for range times {
		var refused *mysql.MySQLError
		if err = wait(); !errors.As(err, &refused) || refused.Number != lockWaitTimeout {
			return err
		}
	}
	return err
}

// column is the only column of what is asked for.
func column[T any](ctx context.Context, db *sql.DB, query string, args ...any) (all []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
