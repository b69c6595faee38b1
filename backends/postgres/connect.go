package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config is how one connects to a server of the lab's own, which asks for no password. Of what is sent nothing is
// prepared beforehand, which takes a round trip more, and which a pooler would not stand. What the environment says
// in the variables of PostgreSQL's own clients counts for nothing.
func Config(endpoint string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig("postgres://lockbench@" + endpoint + "/lockbench?sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("configure the driver: %w", err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	cfg.RuntimeParams = map[string]string{"client_encoding": "UTF8"}
	cfg.Password, cfg.ValidateConnect, cfg.Fallbacks = "", nil, nil
	return cfg, nil
}

// connect makes a connection.
func connect(ctx context.Context, endpoint string) (*pgx.Conn, error) {
	cfg, err := Config(endpoint)
	if err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = 5 * time.Second // the server begins a process for it, on a machine that may be busy
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
