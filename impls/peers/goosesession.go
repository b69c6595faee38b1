package peers

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/pressly/goose/v3/lock"
)

// GooseSession is goose's other lock, by PostgreSQL's advisory locks, on a connection that its caller has:
//
//	l, err := lock.NewPostgresSessionLocker()
//	l.SessionLock(ctx, conn)
//	l.SessionUnlock(ctx, conn)
//
// It asks again and again, with a second between, which is the least that it can be told; it has no way to ask once, and tells
// nobody that the connection has ended, and the lock with it. A connection that is not known to be without the lock is closed.
func GooseSession() lb.Impl { return gooseSession{} }

type gooseSession struct{}

func (gooseSession) Info() lb.Info {
	return lb.Info{
		Name:       "peer-goose-session",
		Doc:        "goose's NewPostgresSessionLocker: pg_try_advisory_lock every second on the caller's connection",
		Source:     gooseSource,
		Topologies: []string{"postgres"}, // no replica knows of the lock, and a fault of them waits too little for who asks every second
		Requests:   []string{"lock", "unlock"},
		Takes:      "lock",
		InMemory:   true,
		NoTry:      true,
		Traits:     lb.Traits{Session: true},
		Expect:     gooseSessionExpect(),
	}
}

func gooseSessionExpect() []lb.Expectation {
	return compose.Except(compose.PostgreSQL.Connected(), compose.Forgotten())
}

func gooseSessionName(statement string) (string, lb.Actor) {
	if strings.Contains(statement, "pg_advisory_unlock") {
		return "unlock", lb.Main
	}
	return "lock", lb.Main
}

func (gooseSession) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c := &gooseSessionClient{onPostgres: onPostgres{env: env, name: gooseSessionName, answered: hearGooseSession, tied: true}}
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("goose: %w", err)
	}
	return lb.Again(lb.Exclusive(c)), nil
}

type gooseSessionClient struct {
	onPostgres
	held lb.Held[*gooseTied]
}

// gooseTied is an acquisition, and its connection.
type gooseTied struct {
	lock.SessionLocker
	*sql.Conn
	// What the server said last: the lock is another's; this one's session is over; it does not have the lock.
	taken, over, notHeld atomic.Bool
}

type gooseTiedKey struct{}

func hearGooseSession(ctx context.Context, name string, first driver.Value, err error) error {
	h, ok := ctx.Value(gooseTiedKey{}).(*gooseTied)
	no := err == nil && first == false
	switch {
	case !ok:
	case name == "lock":
		h.taken.Store(no)
		h.over.Store(sessionOver(err) || errors.Is(err, driver.ErrBadConn)) // which was not sent
		if no {
			return lb.ErrHeld
		}
	default:
		h.notHeld.Store(no || sessionOver(err))
		if no {
			return lb.ErrLost
		}
	}
	return err
}

// sessionOver: the server has ended the session, and with it its locks. Of any other error of the server's nothing follows: such a
// lock is not undone with the statement that took it.
func sessionOver(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && strings.HasPrefix(said.Code, "57P")
}

// Acquire implements [lb.Client].
func (c *gooseSessionClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Try {
		return nil, lb.ErrUnsupported
	}
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) { return c.lock(ctx, req) })
}

// lock is one call of the library's SessionLock, which waits for five minutes.
func (c *gooseSessionClient) lock(ctx context.Context, req lb.Request) (_ *lb.Lease, err error) {
	h := &gooseTied{}
	if h.SessionLocker, err = lock.NewPostgresSessionLocker(lock.WithLockID(gooseID(req.Lock)), lock.WithLockTimeout(1, 300)); err != nil {
		return nil, lb.NoEffect(fmt.Errorf("goose: %w", err))
	}
	if h.Conn, err = c.Conn(ctx); err != nil {
		return nil, lb.NoEffect(fmt.Errorf("goose: connect: %w", err))
	}
	c.held.Put(req.Owner, h)
	err = c.env.Wait(ctx, req, "lock", func(ctx context.Context) error {
		return h.SessionLock(context.WithValue(serving(ctx, req), gooseTiedKey{}, h), h.Conn)
	})
	switch {
	case err == nil:
		return c.env.Grant(req, 0, 0), nil
	case !h.taken.Load() && !h.over.Load():
		return nil, fmt.Errorf("goose: lock: %w", err)
	case ctx.Err() == nil && h.taken.Load():
		err = lb.ErrHeld
	default:
		err = lb.NoEffect(fmt.Errorf("goose: lock: %w", err))
	}
	_ = h.Conn.Close()
	c.held.Drop(req.Owner)
	return nil, err
}

var errGooseClosed = errors.New("goose: the connection was closed, and the lock ends with it when the server has heard of that")

// Release implements [lb.Client].
func (c *gooseSessionClient) Release(ctx context.Context, req lb.Request) error {
	h, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	err := h.SessionUnlock(context.WithValue(serving(ctx, req), gooseTiedKey{}, h), h.Conn)
	switch {
	case err == nil:
		_ = h.Conn.Close()
		c.held.Drop(req.Owner)
		return nil
	case h.notHeld.Load():
		_ = h.Conn.Close()
		c.held.Drop(req.Owner)
		return lb.ErrLost
	}
	return c.drop(h, req, err)
}

// drop closes a connection that perhaps has the lock: the pool must not give it to another.
func (c *gooseSessionClient) drop(h *gooseTied, req lb.Request, err error) error {
	_ = h.Raw(func(any) error { return driver.ErrBadConn })
	return fmt.Errorf("%w: %w", errGooseClosed, err)
}
