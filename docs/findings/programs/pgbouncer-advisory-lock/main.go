// Two clients of PgBouncer in transaction mode take the same advisory lock, and both get it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
)

func main() {
	ctx := context.Background()
	url := append(os.Args, "postgres://postgres@localhost:6432/postgres")[1]
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		panic(err)
	}
	conf.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // as poolers want it
	granted := 0
	for _, name := range []string{"A", "B"} {
		c, err := pgx.ConnectConfig(ctx, conf)
		if err != nil {
			panic(err)
		}
		defer c.Close(ctx)
		var got bool
		var server int
		if err := c.QueryRow(ctx, "SELECT pg_try_advisory_lock(4711), pg_backend_pid()").Scan(&got, &server); err != nil {
			panic(err)
		}
		fmt.Printf("%s: pg_try_advisory_lock returned %v, from the server's process %d\n", name, got, server)
		if got {
			granted++
		}
	}
	fmt.Printf("%d clients were granted the lock, and none gave it back\n", granted)
	fmt.Println("promised by PostgreSQL: a lock that another session holds is refused")
	if granted != 2 {
		os.Exit(1)
	}
}
