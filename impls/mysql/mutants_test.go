package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see
// it: one line a mutant.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, allMutants())
}

func allMutants() []mutants.Mutant {
	return []mutants.Mutant{
		mutants.New(selecting("star", "*", false), selecting("columns", "name, owner, expires", true), "schema-change", lb.DoubleGrant, lb.Broken),
		mutants.New(mutants.Leaving(InsertTTL(), "rows", leaveRow), InsertTTL(), "none", "rows at mariadb1 grew", lb.Safe),
	}
}

// leaveRow writes each grant down.
func leaveRow(ctx context.Context, server, owner string) error {
	db, err := sql.Open("mysql", "lockbench@tcp("+server+")/lockbench")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS lock_grants (owner VARBINARY(255))")
	if err == nil {
		_, err = db.ExecContext(ctx, "INSERT INTO lock_grants VALUES (?)", owner)
	}
	return err
}

// selecting is a lock by read, look and write in one transaction:
//
//	SELECT what FROM lock_select WHERE name = lock FOR UPDATE     a row that is not over: taken
//	REPLACE INTO lock_select … VALUES (lock, owner, now + ttl)
//	COMMIT
//
// One who does not look what kind of error it is takes every one of the read for "there is no
// row". With SELECT * a column that somebody adds is such an error: there are more columns
// than places for them.
func selecting(how, what string, looks bool) lb.Impl {
	a := InsertTTL().(sqllock.Algorithm)
	a.About.Name = "mysql-select-" + how
	a.About.Expect, a.About.Requests, a.About.Takes = nil, []string{"select", "replace", "commit", "delete"}, "commit"
	a.About.Traits.Reentrant = false
	a.Tables = []string{"CREATE TABLE IF NOT EXISTS lock_select (name VARBINARY(1024) NOT NULL PRIMARY KEY, " +
		"owner VARBINARY(255) NOT NULL, expires DATETIME(6) NOT NULL) ENGINE = InnoDB"}
	a.Client = func(_ context.Context, s session) (lb.Client, error) {
		return selected{row{s, "lock_select"}, "SELECT " + what + ", expires < " + now + " FROM lock_select WHERE name = ? FOR UPDATE", looks}, nil
	}
	return a
}

type selected struct {
	row
	query string
	looks bool // at the error of the read
}

func (c selected) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.Env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		bounded, cancel := c.Patient(ctx)
		defer cancel()
		tx, err := c.DB.BeginTx(bounded, nil)
		if err != nil {
			return nil, lb.NoEffect(fmt.Errorf("mysql: begin: %w", err))
		}
		defer func() { _ = tx.Rollback() }()
		return c.take(ctx, req, tx)
	})
}

// take fails without effect before the COMMIT.
func (c selected) take(ctx context.Context, req lb.Request, tx *sql.Tx) (*lb.Lease, error) {
	err := c.Env.Send(ctx, req, "select", func(context.Context) error {
		var name, owner, expires []byte
		var over bool
		err := tx.QueryRow(c.query, []byte(req.Lock)).Scan(&name, &owner, &expires, &over)
		switch {
		case err == nil && !over, inTheWay(err):
			return lb.ErrHeld
		case c.looks && !errors.Is(err, sql.ErrNoRows):
			return err
		}
		return nil
	})
	sent := c.Env.Clock.Mono()
	if err == nil {
		err = c.Env.Send(ctx, req, "replace", func(context.Context) error {
			_, err := tx.Exec("REPLACE INTO lock_select (name, owner, expires) VALUES (?, ?, "+later+")", []byte(req.Lock), []byte(req.Owner), c.Env.TTL.Microseconds())
			if inTheWay(err) {
				return lb.ErrHeld
			}
			return err
		})
	}
	switch {
	case errors.Is(err, lb.ErrHeld):
		return nil, err
	case err != nil:
		return nil, lb.NoEffect(fmt.Errorf("mysql: take the row: %w", err))
	}
	if err := c.Env.Send(ctx, req, "commit", func(context.Context) error { return tx.Commit() }); err != nil {
		return nil, lb.Unsent(fmt.Errorf("mysql: commit: %w", err))
	}
	return c.Env.Grant(req, 0, c.Env.Validity(sent)), nil
}

func (c selected) Release(ctx context.Context, req lb.Request) error {
	return c.give(ctx, req, req.Owner)
}
