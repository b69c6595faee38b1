package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/lockbench/lockbench/internal/wire"
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
		return nil, errors.New("redis: the run has no server")
	}
	r := &goRedis{env: env}
	for i, addr := range env.Servers {
		server := i + 1
		if len(env.Servers) == 1 {
			server = 0
		}
		o := &redis.Options{Addr: addr, DialTimeout: 5 * time.Second} // the default, which the dialer below must know
		o.Dialer = r.over(redis.NewDialer(o), server)
		r.nodes = append(r.nodes, redis.NewClient(o))
	}
	return lb.Again(lb.Exclusive(p.open(r))), nil
}

// goRedis is one client's connections. Every command on them passes the client's
// steps, also those that the driver sends again: they are for whom was served last.
type goRedis struct {
	env        *lb.Env
	nodes      []*redis.Client
	serves     atomic.Pointer[service]
	sent       atomic.Int64 // commands
	unanswered atomic.Int64 // of those
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

func (r *goRedis) over(dial dialer, server int) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{TCPConn: c.(*net.TCPConn), of: r, server: server, wire: wire.New(backend.Language)}, nil
	}
}

// conn is a connection that carries one command at a time, and then its answer: the
// two halves of [lb.Env.Send].
type conn struct {
	*net.TCPConn
	of     *goRedis
	server int // its place among them, from 1, 0 where it is the only one
	wire   *wire.Conn
	asked  string // the command that was not answered yet
}

func (c *conn) Write(p []byte) (int, error) {
	for _, m := range c.wire.Said(p) {
		if m.Request == "" {
			continue
		}
		name := m.Request
		if s := c.of.serves.Load(); s != nil {
			name = s.op + name
		}
		if err := c.step(lb.Before(name)); err != nil {
			return 0, fmt.Errorf("%w: %w", lb.ErrNotSent, err)
		}
		c.asked = name
		c.of.sent.Add(1)
	}
	return c.TCPConn.Write(p)
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	for _, m := range c.wire.Answered(p[:n]) {
		if m.Request == "" {
			continue
		}
		if !m.Failed {
			_ = c.step(lb.After(c.asked)) // the driver has its answer, whatever ends now
		}
		c.asked = ""
	}
	if err != nil && c.asked != "" {
		c.asked = ""
		c.of.unanswered.Add(1)
	}
	return n, err
}

func (c *conn) step(name string) error {
	s := c.of.serves.Load()
	if s == nil {
		return nil
	}
	return c.of.env.Step(lb.To(s.ctx, c.server), s.req, name)
}
