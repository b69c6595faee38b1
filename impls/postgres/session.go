// Package postgres holds the lock algorithms on the tables and the advisory locks of PostgreSQL, one a file.
//
// It connects to the first of the servers as the user lockbench, without a password, to the database lockbench,
// and makes the tables that it needs there. It is not meant for servers that others use, too.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// algorithm is an lb.Impl made of its description, its tables, and its way to open a client.
type algorithm struct {
	info   lb.Info
	tables []string // as statements that create them where they don't exist
	open   func(context.Context, session) (lb.Client, error)
}

func (a algorithm) Info() lb.Info { return a.info }

func (a algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	s, err := dial(ctx, env)
	if err != nil {
		return nil, err
	}
	var c lb.Client
	if err = s.Create(ctx, a.statements()); err != nil {
		err = fmt.Errorf("postgres: create a table: %w", err)
	} else {
		c, err = a.open(ctx, s)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return lb.Exclusive(lb.Again(c)), nil
}

// statements make the tables, one client at a time: of several that make the same one at once all but the first get
// an error, IF NOT EXISTS or not.
func (a algorithm) statements() []string {
	if len(a.tables) == 0 {
		return nil
	}
	const number = 7074 // of the lock that keeps others out: any that nobody else uses
	return []string{fmt.Sprintf("DO $$ BEGIN PERFORM pg_advisory_xact_lock(%d); %s; END $$", number, strings.Join(a.tables, "; "))}
}

// topologies are those that every algorithm here runs on.
var topologies = []string{"postgres", "postgres-replica", "postgres-sync"}

// session is one client's connection to its server.
type session struct{ sqllock.Session }

func dial(ctx context.Context, env *lb.Env) (session, error) {
	if len(env.Servers) == 0 {
		return session{}, errors.New("postgres: the run has no server")
	}
	db, err := pool(env)
	if err != nil {
		return session{}, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return session{}, fmt.Errorf("postgres: connect to %s: %w", env.Servers[0], err)
	}
	return session{sqllock.Session{Env: env, DB: db, InTheWay: inTheWay}}, nil
}

// pool opens no connection yet.
func pool(env *lb.Env) (*sql.DB, error) {
	cfg, err := backend.Config(env.Servers[0])
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	cfg.ConnectTimeout = 0 // each use has an end of its own
	// The driver would ask on its own whether a connection that was idle lives.
	quiet := stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false })
	return sql.OpenDB(stdlib.GetConnector(*cfg, quiet)), nil
}
