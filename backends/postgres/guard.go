package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/workloads/guard"
)

//go:embed guard.sql
var statement string

// Store keeps the protected store's fenced copy.
func Store() guard.Database {
	return guard.Database{Name: "postgres", Doc: "the fenced copy is a row in PostgreSQL, written by a conditional UPDATE",
		Topology: "postgres", Statement: strings.TrimSpace(statement), Open: openGuard}
}

// fenced keeps a record as a row with its token, and updates it on condition. The
// number of rows that were updated says whether it was refused.
type fenced struct {
	addr string
	c    *pgx.Conn
}

const (
	guardedTable = `CREATE TABLE IF NOT EXISTS guarded (
  name bytea NOT NULL PRIMARY KEY,
  token bigint NOT NULL,
  value bigint NOT NULL
)`
	guardedFirst  = `INSERT INTO guarded VALUES ($1, 0, $2) ON CONFLICT DO NOTHING`
	guardedBefore = `SELECT value FROM guarded WHERE name = $1 FOR UPDATE`
)

func openGuard(ctx context.Context, addr string) (guard.Guard, error) {
	c, err := connect(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("guard: connect to PostgreSQL at %s: %w", addr, err)
	}
	if _, err := c.Exec(ctx, guardedTable); err != nil {
		return nil, errors.Join(fmt.Errorf("guard: make a table in PostgreSQL at %s: %w", addr, err), c.Close(ctx))
	}
	return &fenced{addr, c}, nil
}

// Admit implements [guard.Guard].
func (g *fenced) Admit(ctx context.Context, claims []guard.Claim) (before []int64, admitted bool, err error) {
	if g.c.IsClosed() { // the client closes a connection on which it gave up an answer
		c, err := connect(ctx, g.addr)
		if err != nil {
			return nil, false, fmt.Errorf("guard: connect to PostgreSQL at %s again: %w", g.addr, err)
		}
		g.c = c
	}
	tx, err := g.c.Begin(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("guard: begin a transaction: %w", err)
	}
	for _, c := range claims {
		value, ok, err := update(ctx, tx, c)
		if err != nil || !ok {
			if e := tx.Rollback(ctx); e != nil {
				err = errors.Join(err, fmt.Errorf("guard: roll back: %w", e))
			}
			return nil, false, err
		}
		before = append(before, value)
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, false, fmt.Errorf("guard: commit: %w", err)
	}
	return before, true, nil
}

// update does one claim and returns what its record held before.
func update(ctx context.Context, tx pgx.Tx, c guard.Claim) (before int64, ok bool, err error) {
	name, token := []byte(c.Record), int64(c.Token)
	if _, err := tx.Exec(ctx, guardedFirst, name, c.First); err != nil {
		return 0, false, fmt.Errorf("guard: make a row: %w", err)
	}
	if err := tx.QueryRow(ctx, guardedBefore, name).Scan(&before); err != nil {
		return 0, false, fmt.Errorf("guard: read a row: %w", err)
	}
	res, err := tx.Exec(ctx, strings.TrimSpace(statement), token, c.New, name)
	if err != nil {
		return 0, false, fmt.Errorf("guard: update a row: %w", err)
	}
	return before, res.RowsAffected() == 1, nil
}

// Close implements [guard.Guard].
func (g *fenced) Close() error { return g.c.Close(context.Background()) }
