package sqllock

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Link is a connection that a lock is tied to: the server keeps the lock for as
// long as it keeps the connection.
type Link struct {
	*sql.Conn
	// ID and From are how the server knows the connection. The id alone is not
	// enough: a server that was restarted may give it to another.
	ID   int64
	From string
}

// Connections is how a server is asked about connections.
type Connections struct {
	WhoAmI string // is answered by the id of the connection, and where it comes from
	Find   string // takes these two, and is answered by how many such connections there are
	Kill   string // takes the id, and ends the connection
	// Gone says of an error of Kill that there was none.
	Gone func(error) bool
	// Dropped says of an error that the server had ended the very connection that was to ask, which its driver
	// notices only then; nil where a driver asks again by itself.
	Dropped func(error) bool
}

// connect makes a link.
func (c *Tied) connect(ctx context.Context, req lb.Request) (*Link, error) {
	ctx, cancel := c.Patient(ctx)
	defer cancel()
	conn, err := c.Links.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	l := &Link{Conn: conn}
	if err := c.Env.Send(ctx, req, "identify", func(ctx context.Context) error {
		return conn.QueryRowContext(ctx, c.Ask.WhoAmI).Scan(&l.ID, &l.From)
	}); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("ask for the connection's id: %w", err)
	}
	c.Env.Session(fmt.Sprintf("%d@%s", l.ID, l.From))
	return l, nil
}

// kill ends a link on the server, from another connection, and returns when the
// server knows it no more, and with it its locks, its place in line for one, and
// whatever of it may still be on its way. To close a connection is not enough:
// the server may not hear of it, and does not listen while it waits for a lock.
// It reports whether the server still knew it.
func (c *Tied) kill(ctx context.Context, l *Link, req lb.Request) (knew bool, err error) {
	for ; ; knew = true {
		alive, err := c.knows(ctx, l, req)
		_ = l.Close()
		if err != nil || !alive {
			return knew, err
		}
		if _, err := c.Exec(ctx, req, "kill", fmt.Sprintf(c.Ask.Kill, l.ID)); err != nil && !c.Ask.Gone(err) {
			return true, fmt.Errorf("end a connection: %w", err)
		}
		if err := c.Env.Pause(ctx, req, killDelay); err != nil {
			return true, err
		}
	}
}

// killDelay is how long a connection that was ended is given to clean up.
const killDelay = 2 * time.Millisecond

// knows reports whether the server still has the link's connection.
func (c *Tied) knows(ctx context.Context, l *Link, req lb.Request) (alive bool, err error) {
	var n int
	find := func() error { return c.Get(ctx, req, "find-connection", []any{&n}, c.Ask.Find, l.ID, l.From) }
	if err = find(); err != nil && c.Ask.Dropped != nil && c.Ask.Dropped(err) {
		err = find()
	}
	if err != nil {
		return false, fmt.Errorf("find a connection: %w", err)
	}
	return n > 0, nil
}
