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

// added is the column that a change of the schema adds, and takes away again.
const added = "lockbench_added"

// alterTable adds a column to each table that locks are kept in. The statement waits for every transaction that
// uses the table, and all that come after wait for the statement, so that it ends, perhaps, only when the
// command is taken back.
func alterTable(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	var all []string
	err = on(ctx, at.Endpoint, func(c *pgx.Conn) (err error) {
		all, err = tables(ctx, c)
		return err
	})
	if err == nil && len(all) == 0 {
		err = errors.New("there is no table of locks")
	}
	if err != nil {
		return e, err
	}
	start, ended := time.Now(), make(chan error, 1)
	var took time.Duration
	go func() {
		err := alterAll(context.WithoutCancel(ctx), at, all, "ADD COLUMN IF NOT EXISTS "+added+" int")
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
		return lab.Effect{Count: len(all), Told: fmt.Sprintf("added a column to %s within %.3f s", strings.Join(all, ", "), took.Seconds())},
			alterAll(ctx, at, all, "DROP COLUMN "+added)
	}
	return e, nil
}

// alterAll does the same to several tables, and waits for those who use one: a holder may work for some leases in
// its transaction, and those behind it, too. It waits for 4 s at a time, since all who come meanwhile wait for it.
func alterAll(ctx context.Context, at lab.Target, all []string, what string) error {
	const times, lockNotAvailable = 4, "55P03"
	return on(ctx, at.Endpoint, func(c *pgx.Conn) error {
		if _, err := c.Exec(ctx, "SET lock_timeout = '4s'"); err != nil {
			return err
		}
		for _, table := range all {
			var err error
			for range times {
				_, err = c.Exec(ctx, "ALTER TABLE "+pgx.Identifier{table}.Sanitize()+" "+what)
				var refused *pgconn.PgError
				if !errors.As(err, &refused) || refused.Code != lockNotAvailable {
					break
				}
			}
			if err != nil {
				return fmt.Errorf("ALTER TABLE %s: %w", table, err)
			}
		}
		return nil
	})
}
