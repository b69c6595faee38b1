package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// single is a lock of which the test sees the sessions. Its owner is the acquisition.
type single struct {
	opened, closed int
	inside         atomic.Int32
}

func (s *single) Info() lb.Info { return lb.Info{Name: "single"} }

func (s *single) Open(_ context.Context, env *lb.Env) (lb.Client, error) {
	s.opened++
	return &session{of: s, env: env}, nil
}

type session struct {
	of    *single
	env   *lb.Env
	owner string
}

func (s *session) enter(ctx context.Context, req lb.Request) error {
	if s.of.inside.Add(1) != 1 {
		return errors.New("two calls of one session at once")
	}
	defer s.of.inside.Add(-1)
	return s.env.Step(ctx, req, "before-ask")
}

func (s *session) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if err := s.enter(ctx, req); err != nil {
		return nil, err
	}
	if !req.Try {
		return nil, errors.New("a wait inside of a session that others need")
	}
	if s.owner != "" {
		return nil, lb.ErrHeld
	}
	s.owner = req.Owner
	return s.env.Grant(req, 0, 0), nil
}

func (s *session) Release(ctx context.Context, req lb.Request) error {
	if err := s.enter(ctx, req); err != nil {
		return err
	}
	if s.owner != req.Owner {
		return lb.ErrLost
	}
	s.owner = ""
	return nil
}

func (s *session) Close() error { s.of.closed++; return nil }

// steps are the owners of the moves that one client was shown.
type steps struct {
	lb.Probe
	owners []string
}

func (s *steps) Step(_ context.Context, m lb.Move) error {
	s.owners = append(s.owners, m.Owner)
	return nil
}
func (s *steps) Wait(context.Context, lb.Move) func() { return func() {} }

// TestSharedSession: two clients have one session, each sees its own moves, and the one
// that waits does not keep the other from its release.
func TestSharedSession(t *testing.T) {
	inner := &single{}
	s := &shared{Impl: inner}
	var probes []*steps
	var clients []lb.Client
	for _, name := range []string{"w1.c1", "w1.c2"} {
		p := &steps{}
		c, err := s.Open(t.Context(), &lb.Env{Client: name, TTL: time.Second, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1)), Probe: p})
		if err != nil {
			t.Fatal(err)
		}
		probes, clients = append(probes, p), append(clients, c)
	}
	first, second := lb.Request{Lock: "l", Owner: "w1.c1.1"}, lb.Request{Lock: "l", Owner: "w1.c2.1"}
	if _, err := clients[0].Acquire(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	granted := make(chan error, 1)
	go func() {
		_, err := clients[1].Acquire(t.Context(), second)
		granted <- err
	}()
	select {
	case err := <-granted:
		t.Fatalf("the second was granted what the first holds: %v", err)
	case <-time.After(5 * between):
	}
	if err := clients[0].Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := <-granted; err != nil {
		t.Fatal(err)
	}
	try := second
	try.Owner, try.Try = "w1.c2.2", true
	if _, err := clients[1].Acquire(t.Context(), try); !errors.Is(err, lb.ErrHeld) {
		t.Errorf("a try: %v, want held", err)
	}
	for i, own := range []string{first.Owner, second.Owner} {
		if !slices.Contains(probes[i].owners, own) || slices.Contains(probes[1-i].owners, own) {
			t.Errorf("the moves of %s went to %q and %q", own, probes[i].owners, probes[1-i].owners)
		}
	}
	if err := clients[0].Close(); err != nil || inner.closed != 0 {
		t.Errorf("%v: the session was closed %d times while one client needs it", err, inner.closed)
	}
	if err := clients[1].Close(); err != nil || inner.closed != 1 || inner.opened != 1 {
		t.Errorf("%v: opened %d times, closed %d times", err, inner.opened, inner.closed)
	}
}

// TestSharedSessionLost: who closes a session that was lost has another opened, to which the
// others come as they close the old one. A twin's acquisitions bear another name than its client.
func TestSharedSessionLost(t *testing.T) {
	inner := &single{}
	s := &shared{Impl: inner}
	probe := []*steps{{}, {}}
	open := func(i int) lb.Client {
		c, err := s.Open(t.Context(), &lb.Env{Client: []string{"w1.c1", "w1.c2"}[i], TTL: time.Second, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1)), Probe: probe[i]})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	sees := func(closed, opened int) {
		t.Helper()
		if inner.closed != closed || inner.opened != opened {
			t.Fatalf("closed %d of %d sessions, want %d of %d", inner.closed, inner.opened, closed, opened)
		}
	}
	a, b := open(0), open(1)
	sees(0, 1)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = open(0)
	sees(0, 2)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = open(1)
	sees(1, 2)
	if _, err := b.Acquire(t.Context(), lb.Request{Lock: "l", Owner: "w1-2.c2.1"}); err != nil || len(probe[1].owners) != 1 || len(probe[0].owners) != 0 {
		t.Errorf("%v: the moves of the twin's second client went to %v and %v", err, probe[0].owners, probe[1].owners)
	}
	for _, c := range []lb.Client{a, b} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sees(2, 2)
}
