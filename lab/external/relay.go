package external

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// relay is a [lab.Relay] that passes connections on.
type relay struct {
	config   *config
	guest    *lab.Guest
	addr     string
	sentinel bool

	mu     sync.Mutex
	failed error              // the last that kept a connection out
	under  map[io.Closer]bool // way: what to close at the end
	ended  bool
}

// Addr implements [lab.Relay].
func (r *relay) Addr() string { return r.addr }

// Sentinel implements [lab.Relay].
func (r *relay) Sentinel() bool { return r.sentinel }

// Account implements [lab.Relay].
func (r *relay) Account() lab.Account {
	return lab.Account{User: r.config.User, Password: r.config.Password, Database: r.config.Database}
}

// TLS implements [lab.Relay].
func (r *relay) TLS() bool { return r.config.tls != nil }

// Dial implements [lab.Relay].
func (r *relay) Dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, lab.LoginBound)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.addr)
	if err != nil || !r.TLS() || r.guest.OwnTLS {
		return c, err
	}
	return r.Encrypt(ctx, c)
}

// Encrypt implements [lab.Relay].
func (r *relay) Encrypt(ctx context.Context, c net.Conn) (net.Conn, error) {
	how := r.config.tls.Clone()
	if how.ServerName == "" {
		how.ServerName, _, _ = net.SplitHostPort(r.addr)
	}
	how.NextProtos = r.guest.Speaks
	safe := tls.Client(c, how)
	if err := safe.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, &lab.TLSError{Err: err}
	}
	return safe, nil
}

// enter connects to the server and logs in, for a client whose first words it may want to
// hear for that.
func (r *relay) enter(ctx context.Context, client net.Conn) (net.Conn, error) {
	server, err := r.Dial(ctx)
	if err == nil {
		limit := time.Now().Add(lab.LoginBound)
		_ = errors.Join(server.SetDeadline(limit), client.SetDeadline(limit))
		inside, e := server, error(nil)
		if r.guest.Login != nil {
			inside, e = r.guest.Login(r, client, server)
		}
		if e != nil {
			server.Close()
		} else {
			server = inside
			_ = errors.Join(server.SetDeadline(time.Time{}), client.SetDeadline(time.Time{}))
		}
		err = e
	}
	if err == nil || errors.Is(err, lab.ErrClientGone) {
		return server, err
	}
	r.note(err)
	return nil, err
}

// note keeps what kept a connection out.
func (r *relay) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
}

// pass connects the client with the server until one of them has enough.
func (r *relay) pass(client net.Conn) {
	defer r.during(client)()
	server, err := r.enter(context.Background(), client)
	if err != nil {
		return
	}
	defer r.during(server)()
	done := make(chan struct{})
	go func() { _, _ = io.Copy(server, client); half(server); close(done) }()
	_, err = io.Copy(client, server)
	if refused := (*net.OpError)(nil); errors.As(err, &refused) && refused.Op == "remote error" { // of TLS, which lets clients in before it looks at them
		r.note(&lab.TLSError{Err: err})
	}
	half(client)
	<-done
}

// during keeps something that is under way, to be closed by whoever is first: what it returns,
// or the end of the relay.
func (r *relay) during(c io.Closer) (over func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		c.Close()
		return func() {}
	}
	if r.under == nil {
		r.under = map[io.Closer]bool{}
	}
	r.under[c] = true
	return func() {
		c.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.under, c)
	}
}

// end ends all that is under way.
func (r *relay) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for c := range r.under {
		c.Close()
	}
}

// halfClosing is a connection of which one direction can end before the other.
type halfClosing interface{ CloseWrite() error }

// half says that no more is to come.
func half(c net.Conn) {
	if w, ok := c.(halfClosing); ok {
		_ = w.CloseWrite()
		return
	}
	c.Close()
}

// serve passes on all that come to the listener, until it is closed.
func (r *relay) serve(l net.Listener) error {
	if r.guest.Gateway != nil && r.config.User != "" {
		h, end := r.guest.Gateway(r)
		defer end()
		plain := new(http.Protocols)
		plain.SetUnencryptedHTTP2(true)
		s := &http.Server{Handler: h, Protocols: plain}
		defer r.during(s)()
		return s.Serve(l)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("relay to %s: %w", r.addr, err)
		}
		go r.pass(c)
	}
}

// Open implements [lab.Relay].
func (r *relay) Open(context.Context) (net.Conn, error) {
	mine, theirs := net.Pipe()
	go r.pass(theirs)
	return mine, nil
}

// why is the last error that kept a connection out, or else the other.
func (r *relay) why(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.failed != nil {
		return r.failed
	}
	return err
}
