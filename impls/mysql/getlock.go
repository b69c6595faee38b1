package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// GetLock is the server's own lock by name, without any table:
//
//	GET_LOCK(lock, seconds)      the server makes it wait
//	RELEASE_LOCK(lock)
//
// The lock ends with the connection, as that of [ForUpdate] does. Source: the
// MySQL manual, "Locking Functions".
func GetLock() lb.Impl {
	return algorithm(lb.Info{
		Name:       "mysql-getlock",
		Doc:        "GET_LOCK and RELEASE_LOCK",
		Source:     `MySQL manual, "Locking Functions"`,
		Topologies: topologies,
		Requests:   slices.Concat([]string{"get-lock", "release-lock"}, sqllock.Requests),
		Reads:      sqllock.Reads,
		Own:        sqllock.Own,
		Takes:      "get-lock",
		InMemory:   true,
		Traits:     lb.Traits{Push: true, Session: true, LostNotice: true},
		Expect:     compose.Except(manual.Connected(), compose.Forgotten()),
	}, nil, func(ctx context.Context, s session) (lb.Client, error) { return openTied(ctx, s, nil, getLock{s}) })
}

type getLock struct{ session }

// longest is how long one GET_LOCK waits, in seconds, before it asks again. Only
// MySQL can be told to wait without end; MariaDB refuses.
const longest = 24 * 60 * 60

// serverName is the lock's name as the server can say it: letters of one case,
// since it compares names without regard to that, and at most 64 of them.
func serverName(lock string) string {
	sum := sha256.Sum256([]byte(lock))
	return hex.EncodeToString(sum[:])
}

func (c getLock) Lock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	seconds := longest
	if req.Try {
		seconds = 0
	}
	for {
		err := c.Env.Send(ctx, req, "get-lock", func(ctx context.Context) error {
			return c.Env.Wait(ctx, req, "lock", func(ctx context.Context) error { return get(ctx, l, req, seconds) })
		})
		if !errors.Is(err, lb.ErrHeld) || req.Try {
			return err
		}
	}
}

func get(ctx context.Context, l *sqllock.Link, req lb.Request, seconds int) error {
	var got sql.NullBool // NULL: an error, such as the server's shortage of memory
	err := l.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", serverName(req.Lock), seconds).Scan(&got)
	switch {
	case err != nil:
		return fmt.Errorf("mysql: GET_LOCK: %w", err)
	case !got.Valid:
		return errors.New("mysql: GET_LOCK failed on the server")
	case !got.Bool:
		return lb.ErrHeld
	}
	return nil
}

func (c getLock) Unlock(ctx context.Context, l *sqllock.Link, req lb.Request) error {
	return c.Env.Send(ctx, req, "release-lock", func(ctx context.Context) error {
		var ours sql.NullBool // NULL: nobody has it
		err := l.QueryRowContext(ctx, "SELECT RELEASE_LOCK(?)", serverName(req.Lock)).Scan(&ours)
		switch {
		case err != nil:
			return fmt.Errorf("mysql: RELEASE_LOCK: %w", err)
		case !ours.Bool:
			return lb.ErrLost
		}
		return nil
	})
}
