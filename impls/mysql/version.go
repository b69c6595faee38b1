package mysql

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

//go:embed version.sql
var versionTable string

// Version is optimistic: it reads a version and sets the row only if that is
// still the same, so that of two who saw the lock free one comes too late:
//
//	SELECT version, owner IS NULL OR expires < now FROM locks WHERE name = lock
//	UPDATE locks SET version = version + 1, owner = owner, expires = now + ttl
//	    WHERE name = lock AND version = the one read     no row matched: too late
//	UPDATE locks SET owner = NULL WHERE name = lock AND owner = owner
//
// The row is made once and stays, and its version only grows: the new one is the
// fencing token of the grant. Source: surveys of locks on databases, which leave
// open how a lock ends whose owner died; here it expires, by the server's clock.
func Version() lb.Impl {
	return algorithm(lb.Info{
		Name:       "mysql-version",
		Doc:        "a row with a version, taken by compare-and-set; the version is the token",
		Source:     "the optimistic database lock, as surveys present it",
		Topologies: topologies,
		Requests:   []string{"select", "create", "update", "clear"},
		Reads:      []string{"select"},
		Takes:      "update",
		Tables:     true,
		Traits:     lb.Traits{Leased: true, Fenced: true},
		Expect:     manual.OnDisk(compose.FencedLease()),
	}, []string{versionTable}, func(_ context.Context, s session) (lb.Client, error) { return version{s}, nil })
}

type version struct{ session }

func (c version) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.Env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		seen, free, err := c.look(ctx, req)
		if err != nil {
			return nil, lb.NoEffect(err)
		}
		if !free {
			return nil, lb.ErrHeld
		}
		return c.set(ctx, req, seen)
	})
}

// look reads the row, and makes it where it is missing.
func (c version) look(ctx context.Context, req lb.Request) (seen uint64, free bool, err error) {
	err = c.Get(ctx, req, "select", []any{&seen, &free},
		"SELECT version, owner IS NULL OR expires < "+now+" FROM lockbench_version WHERE name = ?", []byte(req.Lock))
	switch {
	case err == nil:
		return seen, free, nil
	case !errors.Is(err, sql.ErrNoRows):
		return 0, false, fmt.Errorf("mysql: read the version: %w", err)
	}
	if _, err := c.Insist(ctx, req, "create", "INSERT IGNORE INTO lockbench_version (name, version) VALUES (?, 0)", []byte(req.Lock)); err != nil {
		return 0, false, fmt.Errorf("mysql: make the row of the lock: %w", err)
	}
	return 0, true, nil
}

// set takes the lock if its version is still the one that was seen.
func (c version) set(ctx context.Context, req lb.Request, seen uint64) (*lb.Lease, error) {
	r, err := c.Exec(ctx, req, "update",
		"UPDATE lockbench_version SET version = version + 1, owner = ?, expires = "+later+" WHERE name = ? AND version = ?",
		[]byte(req.Owner), c.Env.TTL.Microseconds(), []byte(req.Lock), seen)
	switch {
	case err != nil:
		return nil, refusal("compare and set the version", err)
	case r.Rows == 0:
		return nil, lb.ErrHeld
	}
	return c.Env.Grant(req, seen+1, c.Env.Validity(r.Sent)), nil
}

// Release leaves the version alone: a token is used up, whoever had it.
func (c version) Release(ctx context.Context, req lb.Request) error {
	return database.Released(c.Insist(ctx, req, "clear", "UPDATE lockbench_version SET owner = NULL WHERE name = ? AND owner = ?",
		[]byte(req.Lock), []byte(req.Owner)))
}
