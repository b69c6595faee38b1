// Package postgres is PostgreSQL as a backend: its servers, and what people do to them. Its locks are in
// impls/postgres.
package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of PostgreSQL.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "postgres", Doc: "one PostgreSQL server", Kind: single, Servers: 1},
		{Name: "postgres-replica", Doc: "a PostgreSQL primary and an asynchronous replica, behind one address", Kind: replicas, Servers: 2, Virtual: true},
		{Name: "postgres-sync", Doc: "a PostgreSQL primary and a synchronous replica, behind one address", Kind: synchronous, Servers: 2, Virtual: true},
		{Name: "postgres-pooled", Doc: "one PostgreSQL server behind PgBouncer in transaction mode", Kind: pooled, Servers: 1},
	}
}

// The kinds of servers.
var (
	single      = server("postgres", program)
	replicas    = replicated("postgres-replica", replica(""))
	synchronous = copied(replicated("postgres-sync", replica(" -c synchronous_standby_names=*")))
	pooled      = behindPooler()
)

// server is a kind of PostgreSQL servers that run like this.
func server(name string, program func(lab.Host, []lab.Host) lab.Program) lab.Kind {
	return lab.Kind{
		Name: name, Image: "postgres=postgres:17", Software: software, Version: serverVersion, Speaks: Language, Guest: Guest(), Yardstick: Yardstick,
		Needs: []string{binaries + "/postgres"}, Install: "apt-get install postgresql",
		Program: program, Durable: durable, Stop: stopSignal, Forks: true,
		Clock: clock, Keeps: keeps, End: end, Commands: commands,
	}
}

// replicated is a kind of servers of which one leads.
func replicated(name string, program func(lab.Host, []lab.Host) lab.Program) lab.Kind {
	k := server(name, program)
	k.Leads, k.Promote = leads, promote
	return k
}

// copied is a kind of servers of which the one that leads confirms what a replica has written.
func copied(k lab.Kind) lab.Kind {
	k.Copied = true
	return k
}

// behindPooler is a kind whose clients reach a pooler. It tells no session of its client's, since a
// connection to the server is now one client's, and now another's.
func behindPooler() lab.Kind {
	k := server("postgres-pooled", behind)
	k.Needs = append(k.Needs, "pgbouncer")
	k.Install = "apt-get install postgresql pgbouncer"
	k.End, k.Commands = nil, nil
	k.Stop = 0 // SIGINT would have the pooler wait for its clients
	return k
}

// binaries is where distributions have the server's programs, which is in nobody's PATH; of several versions
// the last counts.
const binaries = "/usr/lib/postgresql/*/bin"

var serverVersion = lab.Version{Of: "postgres", Command: []string{binaries + "/postgres", "--version"}}

// responds asks a question.
func responds(ctx context.Context, endpoint string) error {
	return on(ctx, endpoint, func(c *pgx.Conn) error { return c.Ping(ctx) })
}

// clock reads the server's clock.
func clock(ctx context.Context, endpoint string) (now time.Time, err error) {
	err = on(ctx, endpoint, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
	})
	return now, err
}

// keeps counts the rows of the algorithms' tables, and the advisory locks that sessions have.
func keeps(ctx context.Context, endpoint string) (k lab.Keeps, err error) {
	err = on(ctx, endpoint, func(c *pgx.Conn) error {
		tables, err := tables(ctx, c)
		if err != nil {
			return err
		}
		k = lab.Keeps{"rows": 0}
		for _, table := range tables {
			var rows int
			if err := c.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&rows); err != nil {
				return err
			}
			k["rows"] += rows
		}
		var held int
		err = c.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted").Scan(&held)
		k["advisory locks"] = held
		return err
	})
	return k, err
}

// tables are those that are kept in the algorithms' database.
func tables(ctx context.Context, c *pgx.Conn) ([]string, error) {
	rows, err := c.Query(ctx, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
