package sqllock_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

// tying is a lock whose answers the test gives.
type tying struct{ lock, unlock error }

func (l *tying) Lock(context.Context, *sqllock.Link, lb.Request) error   { return l.lock }
func (l *tying) Unlock(context.Context, *sqllock.Link, lb.Request) error { return l.unlock }

var (
	errGone    = errors.New("there is no such connection")
	errDropped = errors.New("the server has ended the connection that asks")
)

// tied is a client of such a lock, and its server.
type tied struct {
	lb.Client
	*server
	tying
	known int   // how often the server still finds a connection that is to be ended
	finds error // to find one, once
	kills error
}

func open(t *testing.T) *tied {
	t.Helper()
	l := &tied{}
	l.server = &server{answer: func(_ context.Context, statement string) (n int64, err error) {
		if statement != find {
			return 0, l.kills
		}
		if err, l.finds = l.finds, nil; err != nil {
			return 0, err
		}
		if l.known > 0 {
			l.known--
			n = 1
		}
		return n, nil
	}}
	c, err := (&sqllock.Tied{Session: l.session(t, lb.HostClock{}), Links: sql.OpenDB(l.server), Tying: &l.tying, Ask: sqllock.Connections{
		WhoAmI: whoAmI, Find: find, Kill: kill,
		Gone:    func(err error) bool { return err == errGone },
		Dropped: func(err error) bool { return err == errDropped },
	}}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.Client = c
	t.Cleanup(func() {
		c.Close()
		if n := l.left(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
	l.heard()
	return l
}

func (l *tied) wants(t *testing.T, what string, err error, want lb.Answer, said ...string) {
	t.Helper()
	if got, heard := lb.AnswerOf(err), l.heard(); got != want || !slices.Equal(heard, said) {
		t.Errorf("%s: %s (%v) after %q, want %s after %q", what, got, err, heard, want, said)
	}
}

// TestAcquire: a lock of which nobody knows whether the server gave it is certainly not had when its connection is gone,
// and only then.
func TestAcquire(t *testing.T) {
	const second = "kill 2" // the first connection is the session's
	unsent := fmt.Errorf("%w: %w", lb.ErrNotSent, context.Canceled)
	for _, tc := range []struct {
		what        string
		lock        error
		known       int
		finds, kill error
		want        lb.Answer
		says        []string
		again       []string // said by the next one before it has the lock
	}{
		{what: "granted"},
		{what: "held", lock: lb.ErrHeld, want: lb.AnswerFailed},
		{what: "not sent", lock: unsent, want: lb.AnswerFailed},
		{what: "it broke, and the server knows", lock: errBroken, want: lb.AnswerFailed, says: []string{find}, again: []string{whoAmI}},
		{what: "it broke, and the server does not know", lock: errBroken, known: 2, want: lb.AnswerFailed,
			says: []string{find, second, find, second, find}, again: []string{whoAmI}},
		{what: "it ends by itself meanwhile", lock: errBroken, known: 1, kill: errGone, want: lb.AnswerFailed,
			says: []string{find, second, find}, again: []string{whoAmI}},
		{what: "the one that asks was ended, too", lock: errBroken, finds: errDropped, want: lb.AnswerFailed,
			says: []string{find, find}, again: []string{whoAmI}},
		{what: "the server can't be asked", lock: errBroken, finds: errBroken, want: lb.AnswerUnknown,
			says: []string{find}, again: []string{whoAmI}},
		{what: "it can't be ended", lock: errBroken, known: 1, kill: errRefused, want: lb.AnswerUnknown,
			says: []string{find, second}, again: []string{whoAmI}},
	} {
		l := open(t)
		l.lock, l.known, l.finds, l.kills = tc.lock, tc.known, tc.finds, tc.kill
		req := lb.Request{Lock: "lock", Owner: tc.what}
		_, err := l.Acquire(t.Context(), req)
		l.wants(t, tc.what, err, tc.want, tc.says...)
		l.lock, l.kills = nil, nil
		if tc.want == lb.AnswerUnknown { // it is cleaned up later
			l.wants(t, tc.what+", clean-up", l.Release(t.Context(), req), lb.AnswerLost, find)
		}
		if tc.lock != nil {
			_, err := l.Acquire(t.Context(), lb.Request{Lock: "lock", Owner: "next"})
			l.wants(t, tc.what+", next", err, lb.AnswerOK, tc.again...)
		}
	}
}

// TestRelease: whether the lock was held until the end of its connection the server tells, or nobody.
func TestRelease(t *testing.T) {
	unsent := fmt.Errorf("%w: %w", lb.ErrNotSent, context.Canceled)
	for _, tc := range []struct {
		what        string
		unlock      error
		want, again lb.Answer
		known       int // by the time of the second release
		says        []string
	}{
		{what: "held", want: lb.AnswerOK, again: lb.AnswerLost},
		{what: "not held", unlock: lb.ErrLost, want: lb.AnswerLost, again: lb.AnswerLost},
		{what: "not sent", unlock: unsent, want: lb.AnswerUnknown, again: lb.AnswerOK}, // by the same connection
		{what: "it broke", unlock: errBroken, want: lb.AnswerUnknown, again: lb.AnswerLost, says: []string{find}},
		{what: "it broke, and the server does not know", unlock: errBroken, want: lb.AnswerUnknown, again: lb.AnswerReleased,
			known: 1, says: []string{find, "kill 2", find}},
	} {
		l := open(t)
		req := lb.Request{Lock: "lock", Owner: tc.what}
		if _, err := l.Acquire(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		l.unlock = tc.unlock
		l.wants(t, tc.what, l.Release(t.Context(), req), tc.want)
		l.unlock, l.known = nil, tc.known
		l.wants(t, tc.what+", again", l.Release(t.Context(), req), tc.again, tc.says...)
	}
}

// TestConnectionOfItsOwn: locks that are held at the same time have a connection each, and those that follow each other
// the same one.
func TestConnectionOfItsOwn(t *testing.T) {
	l := open(t)
	acquire := func(owner string) lb.Request {
		req := lb.Request{Lock: owner, Owner: owner}
		if _, err := l.Acquire(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		return req
	}
	one := acquire("one")
	l.wants(t, "one", nil, lb.AnswerOK)
	two := acquire("two")
	l.wants(t, "another beside it", nil, lb.AnswerOK, whoAmI)
	for _, req := range []lb.Request{one, two} {
		l.wants(t, req.Owner, l.Release(t.Context(), req), lb.AnswerOK)
	}
	acquire("three")
	acquire("four")
	l.wants(t, "two more", nil, lb.AnswerOK)
	if l.made != 3 {
		t.Errorf("%d connections were made", l.made)
	}
}
