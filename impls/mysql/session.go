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
	"time"

	"github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"
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
	if err = s.create(ctx, a.tables); err == nil {
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

// session is one client's connection to its server, and what it is told by env.
type session struct {
	env *lb.Env
	// db is a pool of exactly one connection, which is replaced when it breaks.
	db *sql.DB
}

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
	return session{env: env, db: db}, nil
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

// create makes tables. Clients that do so at the same time may be in each
// other's way, but not for long.
func (s session) create(ctx context.Context, tables []string) error {
	for _, t := range tables {
		_, err := s.statement(ctx, t)
		for inTheWay(err) && s.env.Pause(ctx, lb.Request{}, lb.PollDelay) == nil {
			_, err = s.statement(ctx, t)
		}
		if err != nil {
			return fmt.Errorf("mysql: create a table: %w", err)
		}
	}
	return nil
}

// Close implements lb.Client for the algorithms whose locks are rows.
func (s session) Close() error { return s.db.Close() }

// grace is how long a request that is under way may still be answered when its
// context has ended: the driver can only give a request up together with its
// connection, and then nobody knows what became of it.
const grace = 100 * time.Millisecond

// patient is ctx for one request: it ends grace later, and after one TTL.
func (s session) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	patient, cancel := s.env.WithTimeout(context.WithoutCancel(ctx), s.env.TTL)
	stop := context.AfterFunc(ctx, func() {
		_ = s.env.Clock.Sleep(patient, grace)
		cancel()
	})
	return patient, func() { stop(); cancel() }
}

// result is the server's answer to a statement.
type result struct {
	rows, id int64      // the number of rows that it matched, and that of the row that it made
	sent     lb.Reading // when the statement was sent
}

// statement sends one that belongs to no request for a lock.
func (s session) statement(ctx context.Context, statement string, args ...any) (r result, err error) {
	ctx, cancel := s.patient(ctx)
	defer cancel()
	r.sent = s.env.Clock.Mono()
	answer, err := s.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return r, err
	}
	r.rows, err = answer.RowsAffected()
	if err == nil {
		r.id, err = answer.LastInsertId()
	}
	return r, err
}

// exec sends one as the request of that name.
func (s session) exec(ctx context.Context, req lb.Request, name, statement string, args ...any) (r result, err error) {
	err = s.env.Send(ctx, req, name, func(ctx context.Context) (err error) {
		r, err = s.statement(ctx, statement, args...)
		return err
	})
	return r, err
}

// get sends a query and reads the one row of its answer into the destinations.
func (s session) get(ctx context.Context, req lb.Request, name string, into []any, query string, args ...any) error {
	return s.env.Send(ctx, req, name, func(ctx context.Context) error {
		ctx, cancel := s.patient(ctx)
		defer cancel()
		return s.db.QueryRowContext(ctx, query, args...).Scan(into...)
	})
}

// insist is exec for what has to be done whoever is in the way.
func (s session) insist(ctx context.Context, req lb.Request, name, statement string, args ...any) (result, error) {
	for {
		r, err := s.exec(ctx, req, name, statement, args...)
		if !inTheWay(err) || s.env.Pause(ctx, req, lb.PollDelay) != nil {
			return r, err
		}
	}
}
