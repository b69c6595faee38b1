package postgres

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

//go:embed insert.sql
var insertStatement string

// Insert is the lease that is a row, with a fencing token from a sequence, in one statement:
//
//	INSERT INTO locks (name, owner, expires, token) VALUES (lock, owner, now + ttl, nextval)
//	    ON CONFLICT (name) DO UPDATE SET … WHERE locks.expires < now RETURNING token     no row: held, try again
//	UPDATE locks SET expires = '-infinity' WHERE name = lock AND owner = owner
//
// Time is the server's alone. The row stays when the lock is given back: so whoever takes it takes its number
// under the row's lock, and numbers follow the order of grants. With a DELETE one could draw a number, fall behind,
// and insert it after a later one. Source: surveys of locks on databases; the PostgreSQL manual, INSERT, "ON
// CONFLICT Clause"; for the token, Kleppmann.
func Insert() lb.Impl {
	return algorithm(lb.Info{
		Name:       "postgres-insert",
		Doc:        "INSERT … ON CONFLICT of a row with an owner, an expiry by the server's clock and a fencing token; retry loop",
		Source:     `PostgreSQL manual, INSERT, "ON CONFLICT Clause"; ` + compose.Kleppmann,
		Topologies: topologies,
		Requests:   []string{"insert", "release"},
		ByTheBook:  true,
		Takes:      "insert",
		Tables:     true,
		Traits:     lb.Traits{Leased: true, Fenced: true},
		Expect:     onDisk(),
	}, []string{
		"CREATE SEQUENCE IF NOT EXISTS lockbench_tokens",
		"CREATE TABLE IF NOT EXISTS lockbench_insert (name bytea PRIMARY KEY, owner bytea NOT NULL, expires timestamptz NOT NULL, token bigint NOT NULL)",
		"ALTER SEQUENCE lockbench_tokens OWNED BY lockbench_insert.token", // goes with it
	}, func(_ context.Context, s session) (lb.Client, error) { return insert{s}, nil })
}

type insert struct{ session }

func (c insert) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.Env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		var token uint64
		sent := c.Env.Clock.Mono()
		err := c.Get(ctx, req, "insert", []any{&token}, strings.TrimSpace(insertStatement), []byte(req.Lock), []byte(req.Owner), c.Env.TTL.Microseconds())
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil, lb.ErrHeld
		case err != nil:
			return nil, database.Refusal("INSERT", err)
		}
		return c.Env.Grant(req, token, c.Env.Validity(sent)), nil
	})
}

func (c insert) Release(ctx context.Context, req lb.Request) error {
	return database.Released(c.Insist(ctx, req, "release", "UPDATE lockbench_insert SET expires = '-infinity', owner = '' WHERE name = $1 AND owner = $2", []byte(req.Lock), []byte(req.Owner)))
}
