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
// connection keeps the limit that it was opened under: so those that are there are ended,
// and all that are opened until the command is taken back keep it.
func mariadbIdleTimeout(ctx context.Context, at Target) (e Effect, err error) {
	var before, was int
	set := time.Now()
	err = onMariaDB(ctx, at.Endpoint, func(db *sql.DB) (err error) {
		if err = db.QueryRowContext(ctx, "SELECT @@GLOBAL.wait_timeout").Scan(&was); err != nil {
			return err
		}
		if _, err = db.ExecContext(ctx, "SET GLOBAL wait_timeout = 1"); err != nil {
			return err
		}
		if err = mariadbEndAll(ctx, db); err != nil {
			return err
		}
		before, err = mariadbAborted(ctx, db)
		return err
	})
	e = Effect{Told: "closes idle connections", End: func(ctx context.Context) (e Effect, err error) {
		err = onMariaDB(ctx, at.Endpoint, func(db *sql.DB) error {
			after, err := mariadbAborted(ctx, db)
			if err != nil {
				return err
			}
			e = Effect{Count: after - before, Told: fmt.Sprintf("closed %s that had said nothing for a second (Aborted_clients)", english.Count(after-before, "connection"))}
			own, err := mariadbFrom(ctx, db, at.Client)
			if n := len(own); e.Count == 0 && n > 0 && time.Since(set) >= time.Second+looks {
				e.Immune = true
				e.Told += fmt.Sprintf("; %s has %d, none of which was silent for so long: this can't strike such a lock", at.Client, n)
			}
			_, back := db.ExecContext(ctx, "SET GLOBAL wait_timeout = ?", was)
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

// mariadbAborted is how many connections have ended without a word of their clients.
func mariadbAborted(ctx context.Context, db *sql.DB) (n int, err error) {
	var name string
	err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Aborted_clients'").Scan(&name, &n)
	return n, err
}
