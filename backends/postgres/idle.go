package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/lab"
)

// idleTimeouts are what ends a session that says nothing, within a transaction or between two.
var idleTimeouts = []string{"idle_session_timeout", "idle_in_transaction_session_timeout"}

// closeIdle has the server end sessions that say nothing for [lab.IdleLimit]. A session that is silent already hears of
// no new limit: so those that are there are ended, once new ones have it.
func closeIdle(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	restore := func(ctx context.Context) error {
		return configure(ctx, at.Endpoint, "RESET %s")
	}
	limit := fmt.Sprint(lab.IdleLimit.Milliseconds())
	if err = configure(ctx, at.Endpoint, "SET %s = "+limit); err == nil {
		err = inForce(ctx, at.Endpoint, limit)
	}
	if err == nil {
		err = on(ctx, at.Endpoint, func(c *pgx.Conn) error {
			_, err := c.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
			return err
		})
	}
	if err == nil {
		e, err = lab.WatchIdle(ctx, silence{at.Endpoint, at.Client}, at.Client, restore)
	}
	if err != nil {
		return e, errors.Join(err, restore(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// configure does the same to both limits, and has the server read them.
func configure(ctx context.Context, endpoint, what string) error {
	return on(ctx, endpoint, func(c *pgx.Conn) (err error) {
		for _, name := range idleTimeouts {
			_, e := c.Exec(ctx, "ALTER SYSTEM "+fmt.Sprintf(what, name))
			err = errors.Join(err, e)
		}
		_, e := c.Exec(ctx, "SELECT pg_reload_conf()")
		return errors.Join(err, e)
	})
}

// inForce waits until new sessions have the limits, in milliseconds. One that the server was started with stays.
func inForce(ctx context.Context, endpoint, limit string) error {
	for wrong := []string(nil); ; {
		err := on(ctx, endpoint, func(c *pgx.Conn) error {
			rows, err := c.Query(ctx, "SELECT name FROM pg_settings WHERE name = ANY($1) AND setting <> $2", idleTimeouts, limit)
			if err != nil {
				return err
			}
			now, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err == nil { // what an earlier look saw still counts
				wrong = now
			}
			return err
		})
		if err == nil && len(wrong) > 0 {
			select {
			case <-time.After(2 * time.Millisecond):
				continue
			case <-ctx.Done():
			}
		}
		if len(wrong) > 0 && ctx.Err() != nil { // perhaps while it was asked once more
			return fmt.Errorf("%s can't be changed, perhaps since the server was started with another: %w", strings.Join(wrong, ", "), ctx.Err())
		}
		return err
	}
}

// silence is that of the sessions of clients on a host. Each look is a connection of its own, since the server may be
// away for a while.
type silence struct{ endpoint, host string }

// Silent implements [lab.Silence].
func (s silence) Silent(ctx context.Context) (map[int64]time.Duration, error) {
	silent := map[int64]time.Duration{}
	err := on(ctx, s.endpoint, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT pid, CASE WHEN state LIKE 'idle%' THEN (1000000 * extract(epoch FROM clock_timestamp() - state_change))::bigint ELSE 0 END
			FROM pg_stat_activity WHERE host(client_addr) = $1`, s.host)
		if err != nil {
			return err
		}
		var pid, micros int64
		_, err = pgx.ForEachRow(rows, []any{&pid, &micros}, func() error {
			silent[pid] = time.Duration(micros) * time.Microsecond
			return nil
		})
		return err
	})
	return silent, err
}

// Aborted implements [lab.Silence]: sessions that the server has ended for a reason of its own.
func (s silence) Aborted(ctx context.Context) (n int, err error) {
	err = on(ctx, s.endpoint, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT sum(sessions_fatal)::int FROM pg_stat_database").Scan(&n)
	})
	return n, err
}
