package postgres

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// openTied opens a client of a lock that the server ties to a connection. A process serves each; where the client
// is belongs to its name, since a process's number may be another's later.
func openTied(ctx context.Context, s session, t sqllock.Tying) (lb.Client, error) {
	links, err := pool(s.Env)
	if err != nil {
		return nil, err
	}
	tied := &sqllock.Tied{Session: s, Links: links, Tying: t, Ask: sqllock.Connections{
		WhoAmI:  "SELECT pg_backend_pid(), coalesce(host(inet_client_addr()) || ':' || inet_client_port(), '')",
		Find:    "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND host(client_addr) || ':' || client_port = $2",
		Kill:    "SELECT pg_terminate_backend(%d)", // of one that is gone it says no, and that is no error
		Gone:    func(error) bool { return false },
		Dropped: func(err error) bool { return is(err, adminShutdown, idleTimeout) },
	}}
	return tied.Open(ctx)
}
