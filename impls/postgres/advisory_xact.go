package postgres

import (
	"context"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// AdvisoryXact is the server's lock by number, which a transaction holds:
//
//	BEGIN
//	SELECT pg_advisory_xact_lock(key)       the server makes it wait
//	COMMIT
//
// It can't be given back but by the end of the transaction, which is why it is safe behind a pooler. Source: the
// PostgreSQL manual, "Advisory Locks".
func AdvisoryXact() lb.Impl {
	return algorithm(lb.Info{
		Name:       "postgres-advisory-xact",
		Doc:        "pg_advisory_xact_lock in a transaction; COMMIT releases",
		Source:     `PostgreSQL manual, "Advisory Locks"`,
		Topologies: topologies,
		Requests:   slices.Concat([]string{"begin", "lock", "commit", "rollback"}, sqllock.Requests),
		Reads:      sqllock.Reads,
		Own:        slices.Concat([]string{"begin"}, sqllock.Own),
		Takes:      "lock",
		InMemory:   true,
		Traits:     lb.Traits{Push: true, Session: true, LostNotice: true},
		Expect:     compose.Except(connected(), compose.Forgotten()),
	}, nil, func(ctx context.Context, s session) (lb.Client, error) {
		return openTied(ctx, s, transaction{session: s, take: func(ctx context.Context, l *sqllock.Link, req lb.Request) error {
			return s.Env.Send(ctx, req, "lock", func(ctx context.Context) error {
				return take(ctx, s, l, req, "pg_advisory_xact_lock", "pg_try_advisory_xact_lock")
			})
		}})
	})
}
