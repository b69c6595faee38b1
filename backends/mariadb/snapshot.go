package mariadb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// snapshot keeps all tables as they are until the command is taken back, as for a copy of
// the disk: whoever wants to change something waits.
func snapshot(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	db, err := open(at.Endpoint)
	if err != nil {
		return e, err
	}
	conn, err := db.Conn(ctx) // the one that has the lock
	if err == nil {
		err = inTurn(func() error {
			_, err := conn.ExecContext(ctx, "SET STATEMENT lock_wait_timeout = 4 FOR FLUSH TABLES WITH READ LOCK")
			return err
		})
	}
	closed := func() error {
		if conn == nil {
			return db.Close()
		}
		return errors.Join(conn.Close(), db.Close())
	}
	if err != nil {
		return e, errors.Join(err, closed())
	}
	start := time.Now()
	e = lab.Effect{Told: "lets nobody write", End: func(ctx context.Context) (e lab.Effect, err error) {
		defer closed()
		var waiting int
		err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for backup lock'").Scan(&waiting)
		if err == nil {
			_, err = conn.ExecContext(ctx, "UNLOCK TABLES")
		}
		return lab.Effect{Count: 1, Told: fmt.Sprintf("let nobody write for %.3f s, and %s waited", time.Since(start).Seconds(), english.Count(waiting, "statement"))}, err
	}}
	return e, nil
}
