package lab

import (
	"context"
	"database/sql"
	_ "embed"
	"slices"
	"strings"
)

//go:embed mariadb.sh
var mariadbStart string

// mariadbAccount makes the account that the algorithms use.
//
//go:embed mariadb.sql
var mariadbAccount string

// mariadbProgram leaves the server's timeouts at their defaults: a connection
// that falls silent is kept for 8 hours (wait_timeout), and a request waits for a
// row's lock for 50 s. What that does to a lock whose holder is cut off is for
// the bench to show.
func mariadbProgram(Host, []Host) Program {
	return Program{
		Argv:  []string{"sh", "{dir}/start.sh"},
		Files: map[string]string{"start.sh": mariadbStart, "init.sql": mariadbAccount},
		Port:  3306,
		Ready: mariadbReady,
	}
}

// mariadbOptions is the variable with more options for the server, which overrule those
// of the script.
const mariadbOptions = "LOCKBENCH_MARIADB="

// mariadbDurable has every commit on the disk, as MariaDB does by default.
func mariadbDurable(p Program) Program { return moreMariaDB(p, "--innodb-flush-log-at-trx-commit=1") }

// moreMariaDB gives the server one more option.
func moreMariaDB(p Program, option string) Program {
	more := mariadbOptions
	p.Env = slices.DeleteFunc(slices.Clone(p.Env), func(v string) bool {
		if strings.HasPrefix(v, mariadbOptions) {
			more = v + " "
			return true
		}
		return false
	})
	p.Env = append(p.Env, more+option)
	return p
}

// mariadbReady asks a question as the algorithms' account.
func mariadbReady(ctx context.Context, endpoint string) error {
	return onMariaDB(ctx, endpoint, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, "USE lockbench")
		return err
	})
}
