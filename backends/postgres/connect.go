package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// connect is one connection to the lab's own server, which asks for no password.
func connect(ctx context.Context, endpoint string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, "postgres://lockbench@"+endpoint+"/lockbench?sslmode=disable&connect_timeout=5")
}
