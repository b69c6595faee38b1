// Package mysql holds the lock algorithms on the InnoDB tables and the named
// locks of MySQL and MariaDB, one a file.
//
// It connects to the first of the servers as the user lockbench, without a
// password, to the database lockbench, and makes the tables that it needs there.
// It is not meant for servers that others use, too.
package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// topologies are those that every algorithm here runs on.
var topologies = []string{"mariadb", "mariadb-replica"}

// session is one client's connection to its server.
type session = sqllock.Session

var database = sqllock.Database{
	Name: "mysql",
	// No statement of a session waits for a row on purpose, save those that have
	// a connection of their own for it; 1 s is the least that MySQL can say.
	Pool: func(env *lb.Env) (*sql.DB, error) {
		return pool(env, map[string]string{"innodb_lock_wait_timeout": "1"})
	},
	InTheWay: inTheWay,
	Refused:  refused,
}

func algorithm(info lb.Info, tables []string, open func(context.Context, session) (lb.Client, error)) lb.Impl {
	return sqllock.Algorithm{Database: database, About: info, Tables: tables, Client: open}
}

// pool opens no connection yet. The variables are set on each one that is made.
func pool(env *lb.Env, variables map[string]string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net, cfg.Addr = "lockbench", "lockbench", "tcp", env.Servers[0]
	cfg.Timeout = env.TTL
	cfg.Params = variables
	cfg.InterpolateParams = true // one round trip a statement, not two
	cfg.ClientFoundRows = true   // a row that is set to what it was counts, too
	cfg.Logger = &mysql.NopLogger{}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure the driver: %w", err)
	}
	return sql.OpenDB(c), nil
}
