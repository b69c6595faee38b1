package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// Advisory is the server's own lock by number, which a session holds:
//
//	SELECT pg_advisory_lock(key)        the server makes it wait
//	SELECT pg_advisory_unlock(key)
//
// The key is 64 bits of a hash of the lock's name. The lock ends with the connection. Source: the PostgreSQL
// manual, "Advisory Locks".
func Advisory() lb.Impl {
	return algorithm(advisoryInfo("postgres-advisory"), nil, openAdvisory)
}

func advisoryInfo(name string) lb.Info {
	return lb.Info{
		Name:       name,
		Doc:        "pg_advisory_lock and pg_advisory_unlock, held by the session",
		Source:     `PostgreSQL manual, "Advisory Locks"`,
		Topologies: topologies,
		Requests:   slices.Concat([]string{"lock", "unlock"}, sqllock.Requests),
		Reads:      sqllock.Reads,
		Own:        sqllock.Own,
		Takes:      "lock",
		InMemory:   true,
		Traits:     lb.Traits{Push: true, Session: true, LostNotice: true},
		Expect:     compose.Except(connected(), compose.Forgotten()), // there is no table
	}
}

func openAdvisory(ctx context.Context, s session) (lb.Client, error) {
	return openTied(ctx, s, advisory{s})
}

// key is the lock's name as the server can say it.
func key(lock string) int64 {
	sum := sha256.Sum256([]byte(lock))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

type advisory struct{ session }

// Lock implements [sqllock.Tying].
func (c advisory) Lock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	return c.Env.Send(ctx, req, "lock", func(ctx context.Context) error {
		return take(ctx, c.session, l, req, "pg_advisory_lock", "pg_try_advisory_lock")
	})
}

// take waits for an advisory lock, or tries, by the functions of these names.
func take(ctx context.Context, s session, l *sqllock.Link, req lb.Request, wait, try string) error {
	if !req.Try {
		err := s.Env.Wait(ctx, req, "lock", func(ctx context.Context) error {
			_, err := l.ExecContext(ctx, "SELECT "+wait+"($1)", key(req.Lock))
			return err
		})
		switch {
		case is(err, deadlock):
			return lb.ErrHeld
		case err != nil:
			return fmt.Errorf("postgres: %s: %w", wait, err)
		}
		return nil
	}
	var got bool
	if err := l.QueryRowContext(ctx, "SELECT "+try+"($1)", key(req.Lock)).Scan(&got); err != nil {
		return fmt.Errorf("postgres: %s: %w", try, err)
	}
	if !got {
		return lb.ErrHeld
	}
	return nil
}

// Unlock implements [sqllock.Tying].
func (c advisory) Unlock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	return c.Env.Send(ctx, req, "unlock", func(ctx context.Context) error {
		var ours bool
		err := l.QueryRowContext(ctx, "SELECT pg_advisory_unlock($1)", key(req.Lock)).Scan(&ours)
		switch {
		case err != nil:
			return fmt.Errorf("postgres: pg_advisory_unlock: %w", err)
		case !ours:
			return lb.ErrLost
		}
		return nil
	})
}
