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
)

// dialBound is how long a server may take to let a connection in; less than [visitBound], so
// that it is known what it was that took so long.
const dialBound = visitBound - time.Second

// relay passes connections on to one server, whose clients need to know nothing of TLS or of
// passwords.
type relay struct {
	config   *config
	protocol protocol
	addr     string
	sentinel bool

	mu     sync.Mutex
	failed error              // the last that kept a connection out
	under  map[io.Closer]bool // way: what to close at the end
	ended  bool
}

// dial connects to the server.
func (r *relay) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialBound)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.addr)
	if err != nil || r.config.tls == nil || r.protocol.ownTLS {
		return c, err
	}
	return r.encrypt(ctx, c)
}

func (r *relay) encrypt(ctx context.Context, c net.Conn) (net.Conn, error) {
	how := r.config.tls.Clone()
	if how.ServerName == "" {
		how.ServerName, _, _ = net.SplitHostPort(r.addr)
	}
	how.NextProtos = r.protocol.speaks
	safe := tls.Client(c, how)
	if err := safe.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, &tlsError{err}
	}
	return safe, nil
}

// tlsError is a failed handshake.
type tlsError struct{ error }

func (e *tlsError) Unwrap() error { return e.error }

// enter connects to the server and logs in, for a client whose first words it may want to
// hear for that.
func (r *relay) enter(ctx context.Context, client net.Conn) (net.Conn, error) {
	server, err := r.dial(ctx)
	if err == nil {
		limit := time.Now().Add(dialBound)
		_ = errors.Join(server.SetDeadline(limit), client.SetDeadline(limit))
		inside, e := r.protocol.login(r, client, server)
		if e != nil {
			server.Close()
		} else {
			server = inside
			_ = errors.Join(server.SetDeadline(time.Time{}), client.SetDeadline(time.Time{}))
		}
		err = e
	}
	if err == nil || errors.Is(err, errClientGone) {
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

// errClientGone: nobody wants the connection any more.
var errClientGone = errors.New("external: the client has gone")

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
		r.note(&tlsError{err})
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

// half says that no more is to come.
func half(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
		return
	}
	c.Close()
}

// serve passes on all that come to the listener, until it is closed.
func (r *relay) serve(l net.Listener) error {
	if r.protocol.gateway != nil && r.config.User != "" {
		h, end := r.protocol.gateway(r)
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
			return fmt.Errorf("external: relay to %s: %w", r.addr, err)
		}
		go r.pass(c)
	}
}

// open is a connection of this process's own, by the same way as those of clients.
func (r *relay) open(context.Context) (net.Conn, error) {
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
