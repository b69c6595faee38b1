// Package memcached holds the lock algorithms on memcached, one a file.
package memcached

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/memcached"
)

// algorithm is an lb.Impl made of its description and its way to open a client.
type algorithm struct {
	info lb.Info
	open func(*session) lb.Client
}

func (a algorithm) Info() lb.Info { return a.info }

func (a algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("memcached: the run has no server")
	}
	s := &session{env: env}
	c, err := s.connection(ctx)
	if err != nil {
		return nil, fmt.Errorf("memcached: connect to %s: %w", env.Servers[0], err)
	}
	s.idle = c
	return lb.Exclusive(lb.Again(a.open(s))), nil
}

// session is one client's connection to its server. No lock is tied to it: after an error the next request has another.
type session struct {
	env *lb.Env

	mu     sync.Mutex
	idle   *backend.Conn // that nobody uses at the moment, if there is one
	closed bool
}

// Close implements lb.Client for every algorithm.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.idle == nil {
		return nil
	}
	return s.idle.Close()
}

// ask sends one request by that name. It gives it up when the time of ctx is over, or that of a lease. A caller who only
// does not want the answer any more gets it all the same: to leave it would make an unknown of it.
func (s *session) ask(ctx context.Context, req lb.Request, name string, request func(context.Context, *backend.Conn) error) (sent lb.Reading, err error) {
	err = s.env.Send(ctx, req, name, func(ctx context.Context) error {
		sent = s.env.Clock.Mono()
		ctx, cancel := s.bounded(ctx)
		defer cancel()
		c, err := s.connection(ctx)
		if err != nil {
			return lb.NoEffect(fmt.Errorf("memcached: %s: %w", name, err))
		}
		err = request(ctx, c)
		if s.keep(c, err); err != nil && !errors.Is(err, lb.ErrHeld) && !errors.Is(err, lb.ErrLost) {
			return fmt.Errorf("memcached: %s: %w", name, err)
		}
		return err
	})
	return sent, err
}

// bounded is ctx with an end that the connection can be given.
func (s *session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	end := time.Now().Add(s.env.TTL)
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(end) {
		end = earlier
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// connection is the one that is idle, or a new one.
func (s *session) connection(ctx context.Context) (*backend.Conn, error) {
	s.mu.Lock()
	c := s.idle
	s.idle = nil
	s.mu.Unlock()
	if c != nil {
		return c, nil
	}
	return backend.Dial(ctx, s.env.Servers[0])
}

// keep has the next request use the connection, if it is of use yet.
func (s *session) keep(c *backend.Conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle == nil && !s.closed && usable(err) {
		s.idle = c
		return
	}
	_ = c.Close()
}

// usable: the server has answered to the end.
func usable(err error) bool {
	return err == nil || errors.Is(err, lb.ErrHeld) || errors.Is(err, lb.ErrLost) || refused(err)
}

func refused(err error) bool {
	return errors.As(err, new(backend.Refusal))
}

// take is one try to store the item that is the lock, with which every acquisition begins.
func (s *session) take(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	sent, err := s.ask(ctx, req, "add", func(ctx context.Context, c *backend.Conn) error {
		added, err := c.Add(ctx, key(req.Lock), req.Owner, seconds(s.env.TTL))
		return granted(added, err)
	})
	switch {
	case storedNothing(err):
		return nil, lb.NoEffect(err)
	case err != nil:
		return nil, lb.Unsent(err)
	}
	return s.env.Grant(req, 0, s.env.Validity(sent)), nil
}

// storedNothing: the server has said why. Of another error that it tells, as a proxy does that lost its server, nobody
// knows what became of the request.
func storedNothing(err error) bool {
	said := backend.Refusal("")
	return errors.As(err, &said) && (said == "ERROR" || strings.HasPrefix(string(said), "CLIENT_ERROR") ||
		strings.HasPrefix(string(said), "SERVER_ERROR out of memory") || strings.HasPrefix(string(said), "SERVER_ERROR object too large"))
}

// granted is what it means that the item was stored, or was there already.
func granted(added bool, err error) error {
	if err == nil && !added {
		return lb.ErrHeld
	}
	return err
}

// seconds is for how long an item must be stored that is to be there for a lease, wherever in a second it begins. The
// server looks at its clock once a second, and keeps the whole second that it sees: so an item's time begins up to a
// second before it is stored. Each look comes a little later than a second after the last, and now and then passes over a
// second. So what is stored for n seconds is kept for no more than n, and for more than n-2, less what a look is late: a
// server that is frozen and goes on may store an item by the time of before.
func seconds(lease time.Duration) int {
	const tick = time.Second
	return int((lease+tick-1)/tick) + 2
}

// key is that of a lock. A key has at most 250 bytes, none of which is a space or of those that nobody sees.
func key(lock string) string {
	const most, begin = 250, 100
	name := url.QueryEscape(lock)
	if len(name) <= most {
		return name
	}
	return fmt.Sprintf("%s#%x", name[:begin], sha256.Sum256([]byte(lock)))
}
