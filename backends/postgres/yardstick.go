package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/lab"
)

// Yardstick is SELECT 1; BEGIN, SELECT … FOR UPDATE, COMMIT.
func Yardstick(ctx context.Context, endpoint string) (*lab.Yardstick, error) {
	c, err := connect(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	shut := func() error { return c.Close(context.WithoutCancel(ctx)) }
	for _, q := range []string{"CREATE TABLE IF NOT EXISTS lockbench_yard (id integer PRIMARY KEY)", "INSERT INTO lockbench_yard VALUES (1) ON CONFLICT DO NOTHING"} {
		if _, err := c.Exec(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, errors.Join(err, shut()))
		}
	}
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error { return one(ctx, c, "SELECT 1") },
		Writes: func(ctx context.Context) error {
			tx, err := c.Begin(ctx)
			if err != nil {
				return err
			}
			if err := one(ctx, tx, "SELECT id FROM lockbench_yard WHERE id = 1 FOR UPDATE"); err != nil {
				return errors.Join(err, tx.Rollback(ctx))
			}
			return tx.Commit(ctx)
		},
		Close: func() { _ = shut() },
	}, nil
}

// querier is a connection, or a transaction there.
type querier interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}

func one(ctx context.Context, c querier, query string) error {
	var n int
	return c.QueryRow(ctx, query).Scan(&n)
}
