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
	return algorithm{
		info: lb.Info{
			Name:       "mysql-version",
			Doc:        "a row with a version, taken by compare-and-set; the version is the token",
			Source:     "the optimistic database lock, as surveys present it",
			Topologies: topologies,
			Steps: []string{"before-select", "after-select", "before-create", "after-create", "before-update", "after-update",
				"before-clear", "after-clear"},
			Traits: lb.Traits{Leased: true, Fenced: true},
			Expect: compose.OnWallClock(compose.FencedLease()),
		},
		tables: []string{versionTable},
		open:   func(s session) (lb.Client, error) { return version{s}, nil },
	}
}

type version struct{ session }

func (c version) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return compose.Poll(ctx, c.env, req, func(ctx context.Context) (*lb.Lease, error) {
		seen, free, err := c.look(ctx, req)
		if err != nil {
			return nil, compose.NoEffect(err)
		}
		if !free {
			return nil, lb.ErrHeld
		}
		return c.set(ctx, req, seen)
	})
}

// look reads the row, and makes it where it is missing.
func (c version) look(ctx context.Context, req lb.Request) (seen uint64, free bool, err error) {
	if err := c.env.Step(ctx, "before-select", req); err != nil {
		return 0, false, err
	}
	err = c.get(ctx, []any{&seen, &free},
		"SELECT version, owner IS NULL OR expires < "+now+" FROM lock_version WHERE name = ?", []byte(req.Lock))
	missing := errors.Is(err, sql.ErrNoRows)
	if err != nil && !missing {
		return 0, false, fmt.Errorf("mysql: read the version: %w", err)
	}
	if err := c.env.Step(ctx, "after-select", req); err != nil || !missing {
		return seen, free, err
	}
	if err := c.env.Step(ctx, "before-create", req); err != nil {
		return 0, false, err
	}
	if _, err := c.insist(ctx, "INSERT IGNORE INTO lock_version (name, version) VALUES (?, 0)", []byte(req.Lock)); err != nil {
		return 0, false, fmt.Errorf("mysql: make the row of the lock: %w", err)
	}
	return 0, true, c.env.Step(ctx, "after-create", req)
}

// set takes the lock if its version is still the one that was seen.
func (c version) set(ctx context.Context, req lb.Request, seen uint64) (*lb.Lease, error) {
	if err := c.env.Step(ctx, "before-update", req); err != nil {
		return nil, compose.NoEffect(err)
	}
	call := c.env.Clock.Mono()
	n, err := c.exec(ctx, "UPDATE lock_version SET version = version + 1, owner = ?, expires = "+later+" WHERE name = ? AND version = ?",
		[]byte(req.Owner), c.env.TTL.Microseconds(), []byte(req.Lock), seen)
	if err != nil {
		return nil, refusal("compare and set the version", err)
	}
	if n == 0 {
		return nil, lb.ErrHeld
	}
	if err := c.env.Step(ctx, "after-update", req); err != nil {
		return nil, err
	}
	return c.env.Grant(req, seen+1, c.env.Validity(call)), nil
}

// Release leaves the version alone: a token is used up, whoever had it.
func (c version) Release(ctx context.Context, req lb.Request) error {
	if err := c.env.Step(ctx, "before-clear", req); err != nil {
		return err
	}
	n, err := c.insist(ctx, "UPDATE lock_version SET owner = NULL WHERE name = ? AND owner = ?", []byte(req.Lock), []byte(req.Owner))
	if err := c.env.Step(ctx, "after-clear", req); err != nil {
		return err
	}
	return released(n, err)
}
