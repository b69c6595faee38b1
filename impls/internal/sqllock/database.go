package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// Database is what tells one SQL database from another, whatever the lock.
type Database struct {
	Name string                         // before its errors
	Pool func(*lb.Env) (*sql.DB, error) // of a client, which opens no connection yet
	// InTheWay says of an error that others were: the statement has been undone and can be
	// sent again.
	InTheWay func(error) bool
	// Refused says of an error that it is the server's, which has undone the statement.
	Refused func(error) bool
}

// Dial connects a client to the first of the servers.
func (d Database) Dial(ctx context.Context, env *lb.Env) (s Session, err error) {
	if len(env.Servers) == 0 {
		return s, errors.New("the run has no server")
	}
	db, err := d.Pool(env)
	if err != nil {
		return s, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return s, fmt.Errorf("connect to %s: %w", env.Servers[0], err)
	}
	return Session{Env: env, DB: db, InTheWay: d.InTheWay}, nil
}

// Refusal translates the error of a statement that should have taken the lock.
func (d Database) Refusal(what string, err error) error {
	told := fmt.Errorf("%s: %s: %w", d.Name, what, err)
	switch {
	case d.InTheWay(err):
		return lb.ErrHeld
	case d.Refused(err):
		return lb.NoEffect(told)
	}
	return lb.Unsent(told)
}

// Released turns the number of rows given up into the answer of a release.
func (d Database) Released(r Result, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: release: %w", d.Name, err)
	case r.Rows == 0:
		return lb.ErrLost
	}
	return nil
}
