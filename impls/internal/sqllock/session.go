// Package sqllock is what the locks in SQL databases have in common: a session on one
// connection, and locks that a server ties to a connection.
package sqllock

import (
	"context"
	"database/sql"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Session is one client's connection to its server, and what it is told by env.
type Session struct {
	Env *lb.Env
	// DB is a pool of exactly one connection, which is replaced when it breaks.
	DB *sql.DB
	// InTheWay says of an error that others were: the statement has been undone and can be
	// sent again.
	InTheWay func(error) bool
}

// Close implements lb.Client for the algorithms whose locks are rows.
func (s Session) Close() error { return s.DB.Close() }

// grace is how long a request that is under way may still be answered when its
// context has ended: a driver can only give a request up together with its
// connection, and then nobody knows what became of it.
const grace = 100 * time.Millisecond

// Patient is ctx for one request: it ends grace later, and after one TTL.
func (s Session) Patient(ctx context.Context) (context.Context, context.CancelFunc) {
	patient, cancel := s.Env.WithTimeout(context.WithoutCancel(ctx), s.Env.TTL)
	stop := context.AfterFunc(ctx, func() {
		_ = s.Env.Clock.Sleep(patient, grace)
		cancel()
	})
	return patient, func() { stop(); cancel() }
}

// Result is the server's answer to a statement.
type Result struct {
	sql.Result
	Rows int64      // that it matched
	Sent lb.Reading // when the statement was sent
}

// Statement sends one that belongs to no request for a lock.
func (s Session) Statement(ctx context.Context, statement string, args ...any) (r Result, err error) {
	ctx, cancel := s.Patient(ctx)
	defer cancel()
	r.Sent = s.Env.Clock.Mono()
	if r.Result, err = s.DB.ExecContext(ctx, statement, args...); err != nil {
		return r, err
	}
	r.Rows, err = r.RowsAffected()
	return r, err
}

// Exec sends one as the request of that name.
func (s Session) Exec(ctx context.Context, req lb.Request, name, statement string, args ...any) (r Result, err error) {
	err = s.Env.Send(ctx, req, name, func(ctx context.Context) (err error) {
		r, err = s.Statement(ctx, statement, args...)
		return err
	})
	return r, err
}

// Get sends a query and reads the one row of its answer into the destinations.
func (s Session) Get(ctx context.Context, req lb.Request, name string, into []any, query string, args ...any) error {
	return s.Env.Send(ctx, req, name, func(ctx context.Context) error {
		ctx, cancel := s.Patient(ctx)
		defer cancel()
		return s.DB.QueryRowContext(ctx, query, args...).Scan(into...)
	})
}

// Insist is Exec for what has to be done whoever is in the way.
func (s Session) Insist(ctx context.Context, req lb.Request, name, statement string, args ...any) (Result, error) {
	for {
		r, err := s.Exec(ctx, req, name, statement, args...)
		if !s.InTheWay(err) || s.Env.Pause(ctx, req, lb.PollDelay) != nil {
			return r, err
		}
	}
}

// Create makes tables, by statements that do so where they don't exist. Clients that do so at
// the same time may be in each other's way, but not for long.
func (s Session) Create(ctx context.Context, tables []string) error {
	for _, t := range tables {
		_, err := s.DB.ExecContext(ctx, t)
		for s.InTheWay(err) && s.Env.Pause(ctx, lb.Request{}, lb.PollDelay) == nil {
			_, err = s.DB.ExecContext(ctx, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
