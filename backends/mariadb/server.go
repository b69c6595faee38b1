package mariadb

import (
	"context"
	"database/sql"
	_ "embed"

	"github.com/lockbench/lockbench/backends/internal/sqlserver"
	"github.com/lockbench/lockbench/lab"
)

//go:embed start.sh
var start string

// account makes the account that the algorithms use.
//
//go:embed init.sql
var account string

// program leaves the server's timeouts at their defaults: a connection
// that falls silent is kept for 8 hours (wait_timeout), and a request waits for a
// row's lock for 50 s. What that does to a lock whose holder is cut off is for
// the bench to show.
func program(lab.Host, []lab.Host) lab.Program {
	return lab.Program{
		Argv:  []string{"sh", "{dir}/start.sh"},
		Files: map[string]string{"start.sh": start, "init.sql": account},
		Port:  3306,
		Ready: ready,
	}
}

// durable has every commit on the disk, as MariaDB does by default.
func durable(p lab.Program) lab.Program { return more(p, "--innodb-flush-log-at-trx-commit=1") }

// more gives the server one more option, which overrules those of the script.
func more(p lab.Program, option string) lab.Program {
	return sqlserver.Option(p, "LOCKBENCH_MARIADB", option)
}

// ready asks a question as the algorithms' account.
func ready(ctx context.Context, endpoint string) error {
	return on(ctx, endpoint, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, "USE lockbench")
		return err
	})
}
