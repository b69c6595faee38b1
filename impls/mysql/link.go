package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// link is a connection that a lock is tied to: the server keeps the lock for as
// long as it keeps the connection.
type link struct {
	*sql.Conn
	// id and host are how the server knows the connection. The id alone is not
	// enough: a server that was restarted counts from 1 again.
	id   int64
	host string
}

const whoAmI = "SELECT id, host FROM information_schema.processlist WHERE id = CONNECTION_ID()"

// connect makes a link.
func (s session) connect(ctx context.Context, links *sql.DB, req lb.Request) (*link, error) {
	ctx, cancel := s.patient(ctx)
	defer cancel()
	conn, err := links.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("mysql: connect: %w", err)
	}
	l := &link{Conn: conn}
	if err := s.env.Send(ctx, req, "identify", func(ctx context.Context) error {
		return conn.QueryRowContext(ctx, whoAmI).Scan(&l.id, &l.host)
	}); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("mysql: ask for the connection's id: %w", err)
	}
	s.env.Session(fmt.Sprintf("%d@%s", l.id, l.host)) // the id alone is another's, when the server was started again
	return l, nil
}

// kill ends a link on the server, from another connection, and returns when the
// server knows it no more, and with it its locks, its place in line for one, and
// whatever of it may still be on its way. To close a connection is not enough:
// the server may not hear of it, and does not listen while it waits for a lock.
// It reports whether the server still knew it.
func (s session) kill(ctx context.Context, l *link, req lb.Request) (knew bool, err error) {
	for ; ; knew = true {
		alive, err := s.knows(ctx, l, req)
		_ = l.Close()
		if err != nil || !alive {
			return knew, err
		}
		if _, err := s.exec(ctx, req, "kill", fmt.Sprintf("KILL %d", l.id)); err != nil && !is(err, noSuchThread) {
			return true, fmt.Errorf("mysql: kill a connection: %w", err)
		}
		if err := s.env.Pause(ctx, req, killDelay); err != nil {
			return true, err
		}
	}
}

// killDelay is how long a killed connection is given to clean up.
const killDelay = 2 * time.Millisecond

// knows reports whether the server still has the link's connection.
func (s session) knows(ctx context.Context, l *link, req lb.Request) (alive bool, err error) {
	if err := s.get(ctx, req, "find-connection", []any{&alive},
		"SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND host = ?", l.id, l.host); err != nil {
		return false, fmt.Errorf("mysql: find a connection: %w", err)
	}
	return alive, nil
}
