package lab

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Guest is how lockbench is let in by servers of a kind that somebody else runs, and how it
// leaves them as it found them.
type Guest struct {
	// Login logs in on a connection to the server, for a client that has just connected, too,
	// whose first words it may want to hear. It returns the connection that the client's is to
	// be connected with; nil where a connection needs no login.
	Login func(r Relay, client, server net.Conn) (net.Conn, error)
	// Gateway is what stands for the server where every request must say who asks, and is used
	// only if the user has named somebody; close ends its connections. It is nil where Login does
	// that.
	Gateway func(r Relay) (h http.Handler, close func())
	// Visit connects to the server.
	Visit func(ctx context.Context, r Relay) (Visit, error)
	// Means wraps an error of the server, or of its library, into the one of those in
	// guest_errors.go that it is, or returns it as it is; nil where none of them is meant.
	Means func(err error) error
	// Master asks a Sentinel for the address of the master of that name; nil where there are no
	// Sentinels.
	Master func(ctx context.Context, r Relay, name string) (addr string, err error)
	// Speaks is what a TLS handshake offers; OwnTLS: it begins inside of the protocol, and
	// Login begins it.
	Speaks []string
	OwnTLS bool
	// Alone: each server keeps data of its own, or says by [ErrNotHere] that it copies another's.
	Alone bool
}

// How long a visit to a server may take, and how long the server may take to let a connection
// in: that is less, so that it is known what it was that took so long.
const (
	VisitBound = 5 * time.Second
	LoginBound = VisitBound - time.Second
)

// Relay is the way to one server that somebody else runs. Its clients need to know nothing of
// TLS or of passwords.
type Relay interface {
	// Addr is the server's address, HOST:PORT.
	Addr() string
	// Sentinel reports whether it is one, and not a server of the lock service.
	Sentinel() bool
	// Account is who the user wants to be there.
	Account() Account
	// TLS reports whether the user wants it.
	TLS() bool
	// Encrypt begins TLS on a connection to the server. Its error is a [TLSError], and the
	// connection is closed then.
	Encrypt(ctx context.Context, server net.Conn) (net.Conn, error)
	// Dial connects to the server, with TLS if the user wants it, unless that begins inside of
	// the protocol. Nobody has logged in there.
	Dial(ctx context.Context) (net.Conn, error)
	// Open is a connection of this process's own, by the same way as those of clients: Login
	// logs in on it.
	Open(ctx context.Context) (net.Conn, error)
}

// Account is with which name, which password and in which database a user is let in. Where
// there is no name or no password they are "".
type Account struct{ User, Password, Database string }

// Visit is a connection to a server, to see what is there.
type Visit interface {
	// Answers asks something, to see whether the server answers. It ends with ctx.
	Answers(ctx context.Context) error
	// Version is the server's, with its name: "Redis 7.0.15".
	Version(ctx context.Context) (string, error)
	// Kept are the names of what it keeps under [lb.Prefix], but for the mark of a run; by is
	// what that says, "" where there is none.
	Kept(ctx context.Context) (names []string, by string, err error)
	// Take writes the mark of a run, which nobody else has written: else the error is
	// [ErrTaken]. [ErrNotHere] says that this server takes no writes, but another may.
	Take(ctx context.Context, by string) error
	// Remove removes what has these names. Leave removes the mark, if it still says that.
	Remove(ctx context.Context, names []string) error
	Leave(ctx context.Context, by string) error
	// Close ends the visit.
	Close() error
}
