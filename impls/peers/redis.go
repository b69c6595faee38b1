package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// onGoRedis is a library that locks through clients of go-redis, as redis.NewClient
// makes them: a command waits for its answer for 5 s, whatever its context says, and
// is sent up to four times.
type onGoRedis struct {
	info lb.Info
	open func(*goRedis) lb.Client
}

func (p onGoRedis) Info() lb.Info { return p.info }

func (p onGoRedis) Open(_ context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("peers: redis: the run has no server")
	}
	r := &goRedis{env: env}
	for _, addr := range env.Servers {
		o := &redis.Options{Addr: addr, DialTimeout: 5 * time.Second} // the default, which the dialer below must know
		o.Dialer = r.over(redis.NewDialer(o))
		r.nodes = append(r.nodes, redis.NewClient(o))
	}
	return compose.Again(compose.Exclusive(p.open(r))), nil
}

// goRedis is one client's connections. Every command on them passes the client's
// steps, also those that the driver sends again: they are for whom was served last.
type goRedis struct {
	env        *lb.Env
	nodes      []*redis.Client
	serves     atomic.Pointer[service]
	unanswered atomic.Int64 // commands
}

type service struct {
	ctx context.Context // it says who acts
	req lb.Request
	op  string
}

// serve says for whom the commands are from now on, and what they do: op is the begin of
// their requests' names, where a command alone does not tell.
func (r *goRedis) serve(ctx context.Context, req lb.Request, op string) {
	r.serves.Store(&service{context.WithoutCancel(ctx), req, op})
}

// lost is the answer of a release that found nothing to give back: had the driver to
// ask again, the first time may have given it back.
func (r *goRedis) lost(unanswered int64) error {
	if r.unanswered.Load() != unanswered {
		return lb.ErrReleased
	}
	return lb.ErrLost
}

func (r *goRedis) Close() error { return redisconn.Close(r.nodes) }

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (r *goRedis) over(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &wire{TCPConn: c.(*net.TCPConn), of: r}, nil
	}
}

// wire is a connection that carries one command at a time, and then its answer: the
// two halves of [lb.Env.Send].
type wire struct {
	*net.TCPConn
	of    *goRedis
	asked string // the command that was not answered yet
}

func (w *wire) Write(p []byte) (int, error) {
	if name := command(p); name != "" {
		if s := w.of.serves.Load(); s != nil {
			name = s.op + name
		}
		if err := w.step(lb.Before(name)); err != nil {
			return 0, fmt.Errorf("%w: %w", lb.ErrNotSent, err)
		}
		w.asked = name
	}
	return w.TCPConn.Write(p)
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.TCPConn.Read(p)
	if name := w.asked; name != "" && (n > 0 || err != nil) {
		w.asked = ""
		if n == 0 {
			w.of.unanswered.Add(1)
		} else if !refusal(p[:n]) {
			_ = w.step(lb.After(name)) // the driver has its answer, whatever ends now
		}
	}
	return n, err
}

// refusal reports whether an answer begins as an error or as nothing, which is how
// Redis says that it did not set, and how scripts say no.
func refusal(p []byte) bool {
	return p[0] == '-' || p[0] == '_' || strings.HasPrefix(string(p[:min(len(p), 3)]), "$-1")
}

func (w *wire) step(name string) error {
	s := w.of.serves.Load()
	if s == nil {
		return nil
	}
	return w.of.env.Step(s.ctx, s.req, name)
}

// command is the name of the one at the beginning of p, an array of texts such as
// *2\r\n$3\r\nGET\r\n$1\r\na\r\n, unless it is part of setting up the connection.
func command(p []byte) string {
	parts := strings.SplitN(string(p[:min(len(p), 64)]), "\r\n", 4)
	if len(parts) < 4 || parts[0][0] != '*' {
		return ""
	}
	switch name := strings.ToLower(parts[2]); name {
	case "hello", "client":
		return ""
	default:
		return name
	}
}
