// Package mariadb is MariaDB as a backend: its servers, and what people do to them, and how lockbench is let in by
// those that somebody else runs, MySQL's too. Its locks are in impls/mysql.
package mariadb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of MariaDB.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "mariadb", Doc: "one MariaDB server", Kind: single, Servers: 1},
		{Name: "mariadb-replica", Doc: "a MariaDB primary and an asynchronous replica, behind one address", Kind: replicas, Servers: 2, Virtual: true},
	}
}

// The kinds of servers.
var (
	single   = server("mariadb", program)
	replicas = replicated()
)

// server is a kind of MariaDB servers that run like this.
func server(name string, program func(lab.Host, []lab.Host) lab.Program) lab.Kind {
	return lab.Kind{
		Name: name, Image: "mariadb=mariadb:11", Software: software, Version: serverVersion, Speaks: Language, Guest: Guest(), Yardstick: Yardstick,
		Needs: []string{"mariadbd", "mariadb-install-db"}, Install: "apt-get install mariadb-server",
		Program: program, Durable: durable,
		Clock: clock, Keeps: keeps, End: end, Commands: commands,
	}
}

// replicated is a kind of servers of which one leads, and whose logs grow.
func replicated() lab.Kind {
	k := server("mariadb-replica", replica)
	k.Grows, k.Leads, k.Promote = true, leads, promote
	return k
}

var serverVersion = lab.Version{Of: "mariadbd", Command: []string{"mariadbd", "--version"}}

// software takes options by the names that mariadbd has for them; a shell hands them on.
var software = lab.Software{Name: "mariadb", Unfit: " \t*?[",
	Option: func(p lab.Program, name, value string) lab.Program { return more(p, "--"+name+"="+value) },
	Binary: func(p lab.Program, path string) lab.Program {
		p.Env = append(slices.Clip(p.Env), "LOCKBENCH_MARIADBD="+path)
		return p
	}}

// keeps counts the rows of the algorithms' tables, and the prepared statements.
func keeps(ctx context.Context, endpoint string) (k lab.Keeps, err error) {
	err = on(ctx, endpoint, func(db *sql.DB) error {
		tables, err := column[string](ctx, db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'lockbench'")
		if err != nil {
			return err
		}
		k = lab.Keeps{"rows": 0}
		for _, table := range tables {
			rows, err := column[int](ctx, db, fmt.Sprintf("SELECT COUNT(*) FROM lockbench.`%s`", table))
			if err != nil {
				return err
			}
			k["rows"] += rows[0]
		}
		var name string
		var prepared int
		err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").Scan(&name, &prepared)
		k["prepared statements"] = prepared
		return err
	})
	return k, err
}
