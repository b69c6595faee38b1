// Package postgres holds the lock algorithms on the tables and the advisory locks of PostgreSQL, one a file.
//
// It connects to the first of the servers as the user lockbench, without a password, to the database lockbench,
// and makes the tables that it needs there. It is not meant for servers that others use, too.
package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// statements make the tables, one client at a time: of several that make the same one at once all but the first get
// an error, IF NOT EXISTS or not.
func statements(tables []string) []string {
	if len(tables) == 0 {
		return nil
	}
	const number = 7074 // of the lock that keeps others out: any that nobody else uses
	return []string{fmt.Sprintf("DO $$ BEGIN PERFORM pg_advisory_xact_lock(%d); %s; END $$", number, strings.Join(tables, "; "))}
}

// topologies are those that every algorithm here runs on.
var topologies = []string{"postgres", "postgres-replica", "postgres-sync"}

// session is one client's connection to its server.
type session = sqllock.Session

var database = sqllock.Database{Name: "postgres", Pool: pool, InTheWay: inTheWay, Refused: refused}

func algorithm(info lb.Info, tables []string, open func(context.Context, session) (lb.Client, error)) lb.Impl {
	return sqllock.Algorithm{Database: database, About: info, Tables: statements(tables), Client: open}
}

// pool opens no connection yet.
func pool(env *lb.Env) (*sql.DB, error) {
	cfg, err := backend.Config(env.Servers[0])
	if err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = 0 // each use has an end of its own
	// The driver would ask on its own whether a connection that was idle lives.
	quiet := stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false })
	return sql.OpenDB(stdlib.GetConnector(*cfg, quiet)), nil
}
