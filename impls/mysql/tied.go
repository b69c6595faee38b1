package mysql

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// openTied opens a client of a lock that the server ties to a connection, on each of which the
// variables are set.
func openTied(ctx context.Context, s session, variables map[string]string, t sqllock.Tying) (lb.Client, error) {
	links, err := pool(s.Env, variables)
	if err != nil {
		return nil, err
	}
	tied := &sqllock.Tied{Session: s, Links: links, Tying: t, Ask: sqllock.Connections{
		WhoAmI: "SELECT id, host FROM information_schema.processlist WHERE id = CONNECTION_ID()",
		Find:   "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND host = ?",
		Kill:   "KILL %d",
		Gone:   func(err error) bool { return is(err, noSuchThread) },
	}}
	return tied.Open(ctx)
}
