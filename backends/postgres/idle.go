package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/lab"
)

// idleTimeouts are what ends a session that says nothing, within a transaction or between two.
var idleTimeouts = []string{"idle_session_timeout", "idle_in_transaction_session_timeout"}

// closeIdle has the server end sessions that say nothing for [lab.IdleLimit]. A session that is silent already hears of
// no new limit: so those that are there are ended, once new ones have it.
func closeIdle(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	c, err := connect(ctx, at.Endpoint)
	if err != nil {
		return e, err
	}
	restore := func(ctx context.Context) error {
		var err error
		for _, name := range idleTimeouts {
			_, e := c.Exec(ctx, "ALTER SYSTEM RESET "+name)
			err = errors.Join(err, e)
		}
		_, e := c.Exec(ctx, "SELECT pg_reload_conf()")
		return errors.Join(err, e, c.Close(ctx))
	}
	for _, name := range idleTimeouts {
		if err == nil {
			_, err = c.Exec(ctx, fmt.Sprintf("ALTER SYSTEM SET %s = %d", name, lab.IdleLimit.Milliseconds()))
		}
	}
	if err == nil {
		_, err = c.Exec(ctx, "SELECT pg_reload_conf()")
	}
	if err == nil {
		err = inForce(ctx, at.Endpoint, idleTimeouts[1])
	}
	if err == nil {
		_, err = c.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
	}
	if err == nil {
		e, err = lab.WatchIdle(ctx, silence{c, at.Client}, at.Client, restore)
	}
	if err != nil {
		return e, errors.Join(err, restore(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// inForce waits until new sessions have the limit.
func inForce(ctx context.Context, endpoint, name string) error {
	for {
		var limit string
		err := on(ctx, endpoint, func(c *pgx.Conn) error { return c.QueryRow(ctx, "SHOW "+name).Scan(&limit) })
		if err != nil || limit != "0" {
			return err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s is not in force: %w", name, ctx.Err())
		}
	}
}

// silence is that of the sessions of clients on a host.
type silence struct {
	c    *pgx.Conn
	host string
}

// Silent implements [lab.Silence].
func (s silence) Silent(ctx context.Context) (map[int64]time.Duration, error) {
	rows, err := s.c.Query(ctx, `SELECT pid, CASE WHEN state LIKE 'idle%' THEN (1000000 * extract(epoch FROM clock_timestamp() - state_change))::bigint ELSE 0 END
		FROM pg_stat_activity WHERE host(client_addr) = $1`, s.host)
	if err != nil {
		return nil, err
	}
	silent := map[int64]time.Duration{}
	var pid, micros int64
	_, err = pgx.ForEachRow(rows, []any{&pid, &micros}, func() error {
		silent[pid] = time.Duration(micros) * time.Microsecond
		return nil
	})
	return silent, err
}

// Aborted implements [lab.Silence]: sessions that the server has ended for a reason of its own.
func (s silence) Aborted(ctx context.Context) (n int, err error) {
	err = s.c.QueryRow(ctx, "SELECT sum(sessions_fatal)::int FROM pg_stat_database").Scan(&n)
	return n, err
}
