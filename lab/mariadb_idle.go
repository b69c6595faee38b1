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
// connection keeps the limit that it was opened under: so those that are there are ended, and all
// that are opened until the command is taken back keep it.
func mariadbIdleTimeout(ctx context.Context, at Target) (e Effect, err error) {
	db, err := openMariaDB(at.Endpoint)
	if err != nil {
		return e, err
	}
	var was int
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.wait_timeout").Scan(&was); err != nil {
		return e, errors.Join(err, db.Close())
	}
	set := time.Now()
	if _, err := db.ExecContext(ctx, "SET GLOBAL wait_timeout = 1"); err != nil {
		return e, errors.Join(err, db.Close())
	}
	if err := mariadbEndAll(ctx, db); err != nil {
		return e, errors.Join(err, db.Close())
	}
	watch, err := watchIdle(ctx, db, at.Client)
	if err != nil {
		return e, errors.Join(err, db.Close())
	}
	return Effect{Told: "closes idle connections", End: func(ctx context.Context) (e Effect, err error) {
		defer func() { err = errors.Join(err, db.Close()) }()
		if e.Count, err = watch.end(ctx); err != nil {
			return e, err
		}
		e.Told = fmt.Sprintf("closed %s from %s for being idle", english.Count(e.Count, "connection"), at.Client)
		own, err := mariadbFrom(ctx, db, at.Client)
		if n := len(own); e.Count == 0 && n > 0 && time.Since(set) >= time.Second+looks {
			e.Immune = true
			e.Told += fmt.Sprintf("; it has %d, none of which was silent for so long: this can't strike such a lock", n)
		}
		_, back := db.ExecContext(ctx, "SET GLOBAL wait_timeout = ?", was)
		return e, errors.Join(err, back)
	}}, nil
}

// idleWatch looks again and again at the connections from a host, since the server does not count by host which
// it has closed: its statistics leave out those that have ever asked for something.
type idleWatch struct {
	db      *sql.DB
	host    string
	aborted int // connections, before
	closed  int
	silent  map[int64]time.Duration // by connection, when it was looked at last
	looked  time.Time
	stop    func()
	ended   chan error
}

func watchIdle(ctx context.Context, db *sql.DB, host string) (w *idleWatch, err error) {
	const pause = 50 * time.Millisecond
	w = &idleWatch{db: db, host: host, ended: make(chan error, 1)}
	if w.aborted, err = mariadbAborted(ctx, db); err != nil {
		return nil, err
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		for {
			if err := w.look(ctx); err != nil || ctx.Err() != nil {
				if ctx.Err() != nil {
					err = nil
				}
				w.ended <- err
				return
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}()
	return w, nil
}

// look finds those that are gone since it looked last, and had been silent for a second by then.
func (w *idleWatch) look(ctx context.Context) error {
	rows, err := w.db.QueryContext(ctx, "SELECT ID, IF(COMMAND = 'Sleep', TIME_MS, 0) FROM information_schema.PROCESSLIST WHERE HOST LIKE ?", w.host+":%")
	if err != nil {
		return err
	}
	defer rows.Close()
	now, silent := time.Now(), map[int64]time.Duration{}
	for rows.Next() {
		var id int64
		var ms float64
		if err := rows.Scan(&id, &ms); err != nil {
			return err
		}
		silent[id] = time.Duration(ms * float64(time.Millisecond))
	}
	const almost = 950 * time.Millisecond
	for id, d := range w.silent {
		if _, there := silent[id]; !there && d > 0 && d+now.Sub(w.looked) >= almost {
			w.closed++
		}
	}
	w.silent, w.looked = silent, now
	return rows.Err()
}

// end is how many it has seen closed, and no more than ended without a word of their clients, anybody's.
func (w *idleWatch) end(ctx context.Context) (closed int, err error) {
	w.stop()
	if err := <-w.ended; err != nil {
		return 0, err
	}
	if err := w.look(ctx); err != nil {
		return 0, err
	}
	after, err := mariadbAborted(ctx, w.db)
	return min(w.closed, after-w.aborted), err
}

// mariadbAborted is how many connections have ended without a word of their clients.
func mariadbAborted(ctx context.Context, db *sql.DB) (n int, err error) {
	var name string
	err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Aborted_clients'").Scan(&name, &n)
	return n, err
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
