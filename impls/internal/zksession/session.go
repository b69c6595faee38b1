// Package zksession is one ZooKeeper session: the client library with what a
// lock needs and the library leaves out. It knows nothing of locks.
//
// The library goes on with a new session when the old one has expired, and sends
// there what was asked of the old one. Here a session that is over stays over.
// The library's requests know no context; here each ends with its own, and passes
// env as any request does; so do the session's pings and its end. And the
// library keeps to itself what the server granted as the session's timeout, and
// the transaction id of what it created; see [Session.Timeout] and
// [Session.Created].
package zksession

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
)

// ErrGone: the session is over, and with it every ephemeral node that it made.
var ErrGone = errors.New("zookeeper: the session is over")

// Session is one session, from its beginning to its end.
type Session struct {
	env     *lb.Env
	req     lb.Request // that it serves, if it serves one only
	conn    *zk.Conn
	timeout atomic.Int64 // ns, as the server granted it
	created sync.Map     // path of a node made here → the transaction that made it

	begun, gone, closed chan struct{}
	begin, end          sync.Once
	watcher             func(zk.Event)
}

// Open begins a session of a TTL with one of the servers, or returns ctx's error.
// The server may grant another timeout than the one that is asked for.
func Open(ctx context.Context, env *lb.Env) (*Session, error) {
	return OpenFor(ctx, env, lb.Request{}, func(zk.Event) {})
}

// OpenFor is [Open] for one acquisition, with a watcher that is told every event of
// the session and of its watches, and must not block.
func OpenFor(ctx context.Context, env *lb.Env, req lb.Request, watcher func(zk.Event)) (*Session, error) {
	s := &Session{env: env, req: req, begun: make(chan struct{}), gone: make(chan struct{}), closed: make(chan struct{}), watcher: watcher}
	conn, _, err := zk.Connect(env.Servers, env.TTL, zk.WithLogger(silence{}), zk.WithLogInfo(false),
		zk.WithHostProvider(&hosts{}), zk.WithDialer(s.dial), zk.WithEventCallback(s.notice))
	if err != nil {
		return nil, fmt.Errorf("zookeeper: %w", err)
	}
	s.conn = conn
	go func() {
		<-s.gone
		conn.Close()
		close(s.closed)
	}()
	select {
	case <-s.begun:
		return s, nil
	case <-ctx.Done():
		s.over()
		return nil, fmt.Errorf("zookeeper: begin a session with %v: %w", env.Servers, ctx.Err())
	}
}

// Close ends the session and deletes its ephemeral nodes. It gives up waiting for
// a server that does not answer after some 3 s; then they go with the timeout.
func (s *Session) Close() {
	s.over()
	<-s.closed
}

// Gone is closed when the session is over: expired, or closed.
func (s *Session) Gone() <-chan struct{} { return s.gone }

// Timeout is how long the servers keep the session without a word from it.
func (s *Session) Timeout() time.Duration { return time.Duration(s.timeout.Load()) }

// Created is the id of the transaction that made the node, if the reply was
// heard: the same that the node's czxid is, without another question. It is told
// once for each node.
func (s *Session) Created(path string) (zxid uint64, ok bool) {
	v, ok := s.created.LoadAndDelete(path)
	if !ok {
		return 0, false
	}
	return uint64(v.(int64)), true
}

func (s *Session) over() { s.end.Do(func() { close(s.gone) }) }

// notice is called by the library's own loop, which has not yet begun another
// session when it tells of the end of this one.
func (s *Session) notice(ev zk.Event) {
	switch ev.State {
	case zk.StateHasSession:
		s.begin.Do(func() { close(s.begun) })
	case zk.StateExpired:
		s.over()
	}
	s.watcher(ev)
}

// dial refuses to connect for a session that is over: the connection would begin
// a new one.
func (s *Session) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	select {
	case <-s.gone:
		return nil, ErrGone
	default:
	}
	c, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return NewWire(Wire{Conn: c, Env: s.env, Passes: []string{"ping", "close"},
		For: func() lb.Request { return s.req }, Hear: (&answers{session: s}).hear}), nil
}

// Do sends one request, for req and under the given name. When ctx ends before the
// answer, the request may still be sent, in this session. Requests of a session are
// answered in order.
func Do[T any](ctx context.Context, s *Session, req lb.Request, name string, request func(*zk.Conn) (T, error)) (v T, err error) {
	type answer struct {
		v   T
		err error
	}
	select {
	case <-s.gone:
		return v, fmt.Errorf("%w: %w", lb.ErrNotSent, ErrGone)
	default:
	}
	err = s.env.Send(ctx, req, name, func(ctx context.Context) error {
		done := make(chan answer, 1)
		go func() { // the library's functions can't be ended
			v, err := request(s.conn)
			done <- answer{v, err}
		}()
		select {
		case a := <-done:
			if errors.Is(a.err, zk.ErrSessionExpired) {
				s.over()
				return ErrGone
			}
			v = a.v
			return a.err
		case <-s.gone:
			return ErrGone
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return v, err
}

// Repeat sends a request that does no harm when it is sent twice, until it is
// answered, for at most one session timeout.
func Repeat[T any](ctx context.Context, s *Session, req lb.Request, name string, request func(*zk.Conn) (T, error)) (T, error) {
	ctx, cancel := s.env.WithTimeout(ctx, s.Timeout())
	defer cancel()
	for {
		v, err := Do(ctx, s, req, name, request)
		if !Unanswered(err) || ctx.Err() != nil {
			return v, err
		}
	}
}

// Unanswered: the connection was lost before an answer arrived, and the request
// may or may not have been carried out.
func Unanswered(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionMoved)
}

// silence is the library's logger: what it has to tell arrives as errors, too.
type silence struct{}

func (silence) Printf(string, ...any) {}
