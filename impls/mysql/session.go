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
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// algorithm is an lb.Impl made of its description, its tables, and its
// way to open a client.
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
	if err = s.Create(ctx, a.tables); err != nil {
		err = fmt.Errorf("mysql: create a table: %w", err)
	} else {
		c, err = a.open(ctx, s)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return lb.Exclusive(lb.Again(c)), nil
}

// topologies are those that every algorithm here runs on.
var topologies = []string{"mariadb", "mariadb-replica"}

// session is one client's connection to its server.
type session struct{ sqllock.Session }

func dial(ctx context.Context, env *lb.Env) (session, error) {
	if len(env.Servers) == 0 {
		return session{}, errors.New("mysql: the run has no server")
	}
	// No statement of a session waits for a row on purpose, save those that have
	// a connection of their own for it; 1 s is the least that MySQL can say.
	db, err := pool(env, map[string]string{"innodb_lock_wait_timeout": "1"})
	if err != nil {
		return session{}, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return session{}, fmt.Errorf("mysql: connect to %s: %w", env.Servers[0], err)
	}
	return session{sqllock.Session{Env: env, DB: db, InTheWay: inTheWay}}, nil
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
		return nil, fmt.Errorf("mysql: configure the driver: %w", err)
	}
	return sql.OpenDB(c), nil
}
