package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/english"
)

// mariadbIdleTimeout has the server close connections that say nothing for a second. A
// connection keeps the limit that it was opened under, and whether it is counted by the host that
// it came from: so those that are there are ended, and all that are opened until the command is
// taken back keep it.
func mariadbIdleTimeout(ctx context.Context, at Target) (e Effect, err error) {
	var before, was int
	set := time.Now()
	err = onMariaDB(ctx, at.Endpoint, func(db *sql.DB) (err error) {
		if err = db.QueryRowContext(ctx, "SELECT @@GLOBAL.wait_timeout").Scan(&was); err != nil {
			return err
		}
		if _, err = db.ExecContext(ctx, "SET GLOBAL userstat = 1, GLOBAL wait_timeout = 1"); err != nil {
			return err
		}
		if err = mariadbEndAll(ctx, db); err != nil {
			return err
		}
		before, err = mariadbLost(ctx, db, at.Client)
		return err
	})
	e = Effect{Told: "closes idle connections", End: func(ctx context.Context) (e Effect, err error) {
		err = onMariaDB(ctx, at.Endpoint, func(db *sql.DB) error {
			after, err := mariadbLost(ctx, db, at.Client)
			if err != nil {
				return err
			}
			e = Effect{Count: after - before, Told: fmt.Sprintf("closed %s from %s for being idle (CLIENT_STATISTICS)", english.Count(after-before, "connection"), at.Client)}
			own, err := mariadbFrom(ctx, db, at.Client)
			if n := len(own); e.Count == 0 && n > 0 && time.Since(set) >= time.Second+looks {
				e.Immune = true
				e.Told += fmt.Sprintf("; it has %d, none of which was silent for so long: this can't strike such a lock", n)
			}
			_, back := db.ExecContext(ctx, "SET GLOBAL userstat = 0, GLOBAL wait_timeout = ?", was)
			return errors.Join(err, back)
		})
		return e, err
	}}
	return e, err
}

// mariadbEndAll ends all connections of the account that the algorithms use but this one,
// and returns when they are gone.
func mariadbEndAll(ctx context.Context, db *sql.DB) error {
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

// mariadbLost is how many connections from a host have ended without a word of it: of others the lock
// may have no need.
func mariadbLost(ctx context.Context, db *sql.DB, host string) (n int, err error) {
	err = db.QueryRowContext(ctx, "SELECT COALESCE(SUM(LOST_CONNECTIONS), 0) FROM information_schema.CLIENT_STATISTICS WHERE CLIENT = ?", host).Scan(&n)
	return n, err
}
