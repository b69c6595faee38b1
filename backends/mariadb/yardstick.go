package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/lab"
)

// Yardstick is SELECT 1; BEGIN, SELECT … FOR UPDATE, COMMIT.
func Yardstick(ctx context.Context, endpoint string) (*lab.Yardstick, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net, cfg.Addr, cfg.InterpolateParams = "lockbench", "lockbench", "tcp", endpoint, true
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for _, q := range []string{"CREATE TABLE IF NOT EXISTS lockbench_yard (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT IGNORE INTO lockbench_yard VALUES (1)"} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, errors.Join(err, db.Close()))
		}
	}
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error { return one(ctx, c, "SELECT 1") },
		Writes: func(ctx context.Context) error {
			tx, err := c.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if err := one(ctx, tx, "SELECT id FROM lockbench_yard WHERE id = 1 FOR UPDATE"); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			return tx.Commit()
		},
		Close: func() { _ = c.Close(); _ = db.Close() },
	}, nil
}

// querier is a connection, or a transaction there.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func one(ctx context.Context, c querier, query string) error {
	var n int
	return c.QueryRowContext(ctx, query).Scan(&n)
}
