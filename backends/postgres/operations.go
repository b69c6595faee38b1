package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lockbench/lockbench/backends/internal/sqlserver"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// commands are what people do to a PostgreSQL server.
var commands = map[lab.Operation]lab.Command{
	lab.KillSession: killSession,
	lab.AlterTable:  alterTable,
	lab.IdleTimeout: closeIdle,
	lab.Snapshot:    checkpoint,
}

// end ends a session, which is a connection, and returns when it is gone, and its locks with it. It is named by
// the process that serves it and where the client is: a process's number may be another's later.
func end(ctx context.Context, endpoint, session string) (knew bool, err error) {
	number, from, _ := strings.Cut(session, "@")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return false, fmt.Errorf("session %q is not PID@HOST:PORT", session)
	}
	err = on(ctx, endpoint, func(c *pgx.Conn) error {
		for {
			var there int
			err := c.QueryRow(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = $1 AND host(client_addr) || ':' || client_port = $2", pid, from).Scan(&there)
			if err != nil || there == 0 {
				return err
			}
			knew = true
			select {
			case <-time.After(2 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return knew, err
}

// killSession ends the connections that come from a client's host.
func killSession(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = on(ctx, at.Endpoint, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity WHERE host(client_addr) = $1", at.Client).Scan(&e.Count)
	})
	e.Told = fmt.Sprintf("killed %s from %s", english.Count(e.Count, "connection"), at.Client)
	return e, err
}

// checkpoint has the server write all that it has in memory to its files, as a backup begins.
func checkpoint(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	start := time.Now()
	err = on(ctx, at.Endpoint, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "CHECKPOINT")
		return err
	})
	return lab.Effect{Count: 1, Told: fmt.Sprintf("made a checkpoint within %.3f s", time.Since(start).Seconds())}, err
}

// alterTable adds a column to each table that locks are kept in. It waits for 4 s at a time, since all who come
// meanwhile wait for it.
func alterTable(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = on(ctx, at.Endpoint, func(c *pgx.Conn) error {
		all, err := tables(ctx, c)
		if err != nil {
			return err
		}
		e, err = sqlserver.AddColumn(ctx, all, func(ctx context.Context, table, change string) error {
			return on(ctx, at.Endpoint, func(c *pgx.Conn) error { return alter(ctx, c, table, change) })
		})
		return err
	})
	return e, err
}

func alter(ctx context.Context, c *pgx.Conn, table, change string) error {
	if _, err := c.Exec(ctx, "SET lock_timeout = '4s'"); err != nil {
		return err
	}
	return sqlserver.InTurn(func() error {
		_, err := c.Exec(ctx, "ALTER TABLE "+pgx.Identifier{table}.Sanitize()+" "+change)
		return err
	}, func(err error) bool {
		const lockNotAvailable = "55P03"
		var refused *pgconn.PgError
		return errors.As(err, &refused) && refused.Code == lockNotAvailable
	})
}
