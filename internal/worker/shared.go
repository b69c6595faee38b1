package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
)

// shared is a lock of which all clients use one session, as the threads of a program use
// one client of a library. A session's methods are called from one goroutine at a time, and
// who waited inside would keep the holder from its release: so each client tries, and tries
// again.
type shared struct {
	lb.Impl

	calls  sync.Mutex // to the sessions
	now    *common    // that of who opens one, nil for none
	probes audience
}

// common is a session with those that use it.
type common struct {
	lb.Client
	users int
}

// Open implements [lb.Impl]. The first client opens the session, the last one closes it. Who
// has closed it, because it was lost, has another opened, which the others come to as they close
// the old one.
func (s *shared) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	s.calls.Lock()
	defer s.calls.Unlock()
	s.probes.join(env)
	if s.now == nil {
		own := *env
		own.Probe, own.Rand = &s.probes, rand.New(rand.NewPCG(env.Rand.Uint64(), 0))
		session, err := s.Impl.Open(ctx, &own)
		if err != nil {
			return nil, err
		}
		s.now = &common{Client: session}
	}
	s.now.users++
	return &thread{shared: s, session: s.now, env: env}, nil
}

// thread is one client of the session.
type thread struct {
	*shared
	session *common
	env     *lb.Env
}

// between is the mean pause between two tries.
const between = 10 * time.Millisecond

func (t *thread) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	for {
		lease, err := t.try(ctx, req)
		if !errors.Is(err, lb.ErrHeld) || req.Try {
			return lease, err
		}
		if err := t.env.Pause(ctx, req, between); err != nil {
			return nil, fmt.Errorf("%w: %w", lb.ErrNoEffect, err)
		}
	}
}

func (t *thread) try(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t.calls.Lock()
	defer t.calls.Unlock()
	req.Try = true
	return t.session.Acquire(ctx, req)
}

func (t *thread) Release(ctx context.Context, req lb.Request) error {
	t.calls.Lock()
	defer t.calls.Unlock()
	return t.session.Release(ctx, req)
}

// Close leaves the session to the others that have it.
func (t *thread) Close() error {
	t.calls.Lock()
	defer t.calls.Unlock()
	if t.now == t.session {
		t.now = nil
	}
	if t.session.users--; t.session.users > 0 {
		return nil
	}
	return t.session.Close()
}

// audience shows the moves of a session to whoever they are for.
type audience struct {
	mu    sync.Mutex
	first lb.Probe
	of    map[string]lb.Probe // by the client's place in its process
}

func (a *audience) join(env *lb.Env) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == nil {
		a.first, a.of = env.Probe, map[string]lb.Probe{}
	}
	a.of[place(env.Client)] = env.Probe
}

// whose is the probe of the client that has made the acquisition, that of the first for
// what is nobody's.
func (a *audience) whose(owner string) lb.Probe {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.of[place(owner[:max(0, strings.LastIndexByte(owner, '.'))])]; p != nil {
		return p
	}
	return a.first
}

// place is what is left of a client's name, or of what it is called for the lock, without the
// process: a twin has the name of another for the lock.
func place(client string) string { return client[strings.LastIndexByte(client, '.')+1:] }

// Step implements [lb.Probe].
func (a *audience) Step(ctx context.Context, m lb.Move) error { return a.whose(m.Owner).Step(ctx, m) }

// Wait implements [lb.Probe].
func (a *audience) Wait(ctx context.Context, m lb.Move) (done func()) {
	return a.whose(m.Owner).Wait(ctx, m)
}

// Go implements [lb.Probe].
func (a *audience) Go(as lb.Actor) (end func()) { return a.first.Go(as) }

// Renewed implements [lb.Probe].
func (a *audience) Renewed(l *lb.Lease, call lb.Reading) { a.whose(l.Request.Owner).Renewed(l, call) }

// Lost implements [lb.Probe].
func (a *audience) Lost(l *lb.Lease, why string) { a.whose(l.Request.Owner).Lost(l, why) }

// Session implements [lb.SessionProbe].
func (a *audience) Session(name string) {
	if p, ok := a.first.(lb.SessionProbe); ok {
		p.Session(name)
	}
}
