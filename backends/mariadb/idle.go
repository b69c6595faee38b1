package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// closeIdle has the server close connections that say nothing for a second. A
// connection keeps the limit that it was opened under: so those that are there are ended, and all
// that are opened until the command is taken back keep it.
func closeIdle(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	db, err := open(at.Endpoint)
	if err != nil {
		return e, err
	}
	var was int
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.wait_timeout").Scan(&was); err != nil {
		return e, errors.Join(err, db.Close())
	}
	restore := func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, "SET GLOBAL wait_timeout = ?", was)
		return errors.Join(err, db.Close())
	}
	_, err = db.ExecContext(ctx, "SET GLOBAL wait_timeout = 1")
	if err == nil {
		err = endAll(ctx, db)
	}
	if err == nil {
		e, err = lab.WatchIdle(ctx, idleConnections{db, at.Client}, at.Client, restore)
	}
	if err != nil {
		return e, errors.Join(err, restore(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// idleConnections are those from a host.
type idleConnections struct {
	db   *sql.DB
	host string
}

// Silent implements [lab.Silence].
func (c idleConnections) Silent(ctx context.Context) (map[int64]time.Duration, error) {
	rows, err := c.db.QueryContext(ctx, "SELECT ID, IF(COMMAND = 'Sleep', TIME_MS, 0) FROM information_schema.PROCESSLIST WHERE HOST LIKE ?", c.host+":%")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	silent := map[int64]time.Duration{}
	for rows.Next() {
		var id int64
		var ms float64
		if err := rows.Scan(&id, &ms); err != nil {
			return nil, err
		}
		silent[id] = time.Duration(ms * float64(time.Millisecond))
	}
	return silent, rows.Err()
}

// Aborted implements [lab.Silence].
func (c idleConnections) Aborted(ctx context.Context) (int, error) { return aborted(ctx, c.db) }

// aborted is how many connections have ended without a word of their clients.
func aborted(ctx context.Context, db *sql.DB) (n int, err error) {
	var name string
	err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Aborted_clients'").Scan(&name, &n)
	return n, err
}

// endAll ends all connections of the account that the algorithms use but this one,
// and returns when they are gone.
func endAll(ctx context.Context, db *sql.DB) error {
	for {
		ids, err := column[int64](ctx, db, "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'lockbench' AND ID <> CONNECTION_ID()")
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			_, _ = db.ExecContext(ctx, "KILL ?", id) // one that has just ended by itself is no error
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s are still there: %w", english.Count(len(ids), "connection"), ctx.Err())
		}
	}
}
