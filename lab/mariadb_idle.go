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
	restore := func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, "SET GLOBAL wait_timeout = ?", was)
		return errors.Join(err, db.Close())
	}
	set := time.Now()
	_, err = db.ExecContext(ctx, "SET GLOBAL wait_timeout = 1")
	if err == nil {
		err = mariadbEndAll(ctx, db)
	}
	var watch *idleWatch
	if err == nil {
		watch, err = watchIdle(ctx, db, at.Client)
	}
	if err != nil {
		return e, errors.Join(err, restore(context.WithoutCancel(ctx)))
	}
	return Effect{Told: "closes idle connections", End: func(ctx context.Context) (e Effect, err error) {
		defer func() { err = errors.Join(err, restore(ctx)) }()
		if e.Count, err = watch.end(ctx); err != nil {
			return e, err
		}
		e.Told = fmt.Sprintf("closed %s from %s for being idle", english.Count(e.Count, "connection"), at.Client)
		if n := len(watch.silent); e.Count == 0 && n > 0 && time.Since(set) >= time.Second+looks {
			e.Told += fmt.Sprintf("; it has %d, of which the longest silence was %.1f s", n, watch.longest.Seconds())
			if e.Immune = watch.longest < time.Second && watch.missed == 0; e.Immune {
				e.Told += ": this can't strike such a lock"
			}
		}
		if watch.missed > 0 {
			e.Told += fmt.Sprintf("; this machine was too busy %s to see which were closed", english.Count(watch.missed, "time"))
		}
		return e, err
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
	longest time.Duration           // of any
	looked  time.Time               // zero before the first look
	missed  int                     // looks that came too late, or did not come
	stop    func()
	ended   chan struct{}
}

// The limit of a silent connection, how often it is looked at, and how late a look may come.
const (
	idleLimit = time.Second
	idleLooks = 50 * time.Millisecond
	idleLate  = 250 * time.Millisecond
)

func watchIdle(ctx context.Context, db *sql.DB, host string) (w *idleWatch, err error) {
	w = &idleWatch{db: db, host: host, ended: make(chan struct{})}
	if w.aborted, err = mariadbAborted(ctx, db); err != nil {
		return nil, err
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(w.ended)
		for ctx.Err() == nil {
			if w.look(context.WithoutCancel(ctx)) != nil { // another that ends all connections ends this one's, too
				w.missed++
				w.looked = time.Time{}
			}
			select {
			case <-time.After(idleLooks):
			case <-ctx.Done():
			}
		}
	}()
	return w, nil
}

// look finds those that are gone since it looked last, and had been silent up to their limit by then.
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
		w.longest = max(w.longest, silent[id])
	}
	if err := rows.Err(); err != nil {
		return err
	}
	gap := now.Sub(w.looked)
	for id, d := range w.silent {
		_, there := silent[id]
		switch gone := !there && !w.looked.IsZero() && d > 0; {
		case gone && gap > idleLate && d+gap >= idleLimit: // by the server or by its client, who knows
			w.missed++
		case gone && d+gap >= idleLimit-idleLooks:
			w.closed++
		}
	}
	w.silent, w.looked = silent, now
	return nil
}

// end is how many it has seen closed, and no more than ended without a word of their clients, anybody's.
func (w *idleWatch) end(ctx context.Context) (closed int, err error) {
	w.stop()
	<-w.ended
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
