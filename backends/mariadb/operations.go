package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/backends/internal/sqlserver"
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

// alterTable adds a column to each table that locks are kept in.
func alterTable(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	const patience = 4 // seconds; less than the connection waits
	err = on(ctx, at.Endpoint, func(db *sql.DB) error {
		tables, err := column[string](ctx, db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'lockbench'")
		if err != nil {
			return err
		}
		e, err = sqlserver.AddColumn(ctx, tables, func(ctx context.Context, table, change string) error {
			return on(ctx, at.Endpoint, func(db *sql.DB) error {
				return inTurn(func() error {
					_, err := db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE lockbench.`%s` WAIT %d %s", table, patience, change))
					return err
				})
			})
		})
		return err
	})
	return e, err
}

// inTurn has a statement wait for those who use the tables.
func inTurn(wait func() error) error {
	return sqlserver.InTurn(wait, func(err error) bool {
		const lockWaitTimeout = 1205
		var refused *mysql.MySQLError
		return errors.As(err, &refused) && refused.Number == lockWaitTimeout
	})
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
