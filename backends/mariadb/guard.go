package mariadb

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/workloads/guard"
)

//go:embed guard.sql
var statement string

// Store keeps the protected store's fenced copy.
func Store() guard.Database {
	return guard.Database{Name: "mysql", Doc: "the fenced copy is a row in MySQL, written by a conditional UPDATE",
		Topology: "mariadb", Statement: strings.TrimSpace(statement), Open: openGuard}
}

// fenced keeps a record as a row with its token, and updates it on condition. The
// number of rows that matched says whether it was refused.
type fenced struct{ db *sql.DB }

const (
	guardedTable = `CREATE TABLE IF NOT EXISTS guarded (
  name VARBINARY(1024) NOT NULL PRIMARY KEY,
  token BIGINT UNSIGNED NOT NULL,
  value BIGINT NOT NULL
) ENGINE = InnoDB`
	guardedFirst  = `INSERT IGNORE INTO guarded VALUES (?, 0, ?)`
	guardedBefore = `SELECT value FROM guarded WHERE name = ? FOR UPDATE`
)

func openGuard(ctx context.Context, addr string) (guard.Guard, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net, cfg.Addr = "lockbench", "lockbench", "tcp", addr
	cfg.InterpolateParams = true // one round trip a statement, not two
	cfg.ClientFoundRows = true   // a row that is set to what it was has matched, too
	cfg.Logger = &mysql.NopLogger{}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("guard: configure the driver of MySQL: %w", err)
	}
	db := sql.OpenDB(c)
	if _, err := db.ExecContext(ctx, guardedTable); err != nil {
		return nil, errors.Join(fmt.Errorf("guard: make a table in MySQL at %s: %w", addr, err), db.Close())
	}
	return fenced{db}, nil
}

// Admit implements [guard.Guard].
func (g fenced) Admit(ctx context.Context, claims []guard.Claim) (before []int64, admitted bool, err error) {
	tx, err := g.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, false, fmt.Errorf("guard: begin a transaction: %w", err)
	}
	for _, c := range claims {
		value, ok, err := update(ctx, tx, c)
		if err != nil || !ok {
			if e := tx.Rollback(); e != nil {
				err = errors.Join(err, fmt.Errorf("guard: roll back: %w", e))
			}
			return nil, false, err
		}
		before = append(before, value)
	}
	if err := tx.Commit(); err != nil {
		return nil, false, fmt.Errorf("guard: commit: %w", err)
	}
	return before, true, nil
}

// update does one claim and returns what its record held before.
func update(ctx context.Context, tx *sql.Tx, c guard.Claim) (before int64, ok bool, err error) {
	if _, err := tx.ExecContext(ctx, guardedFirst, c.Record, c.First); err != nil {
		return 0, false, fmt.Errorf("guard: make a row: %w", err)
	}
	if err := tx.QueryRowContext(ctx, guardedBefore, c.Record).Scan(&before); err != nil {
		return 0, false, fmt.Errorf("guard: read a row: %w", err)
	}
	res, err := tx.ExecContext(ctx, statement, c.Token, c.New, c.Record, c.Token)
	if err != nil {
		return 0, false, fmt.Errorf("guard: update a row: %w", err)
	}
	n, err := res.RowsAffected()
	return before, n == 1, err
}

// Close implements [guard.Guard].
func (g fenced) Close() error { return g.db.Close() }
