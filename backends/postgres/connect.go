package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// connect makes a connection to a server of the lab's own, which asks for no password. Of what it sends nothing is prepared: a pooler would not stand it.
func connect(ctx context.Context, endpoint string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig("postgres://lockbench@" + endpoint + "/lockbench?sslmode=disable&connect_timeout=1")
	if err != nil {
		return nil, fmt.Errorf("configure the driver: %w", err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, cfg)
}

// on asks the server at the endpoint, as the account that the algorithms use.
func on(ctx context.Context, endpoint string, ask func(*pgx.Conn) error) error {
	c, err := connect(ctx, endpoint)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	return ask(c)
}
