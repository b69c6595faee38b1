package sqllock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

var (
	errInTheWay = errors.New("others were in the way")
	errRefused  = errors.New("the server does not like it")
	errBroken   = errors.New("the connection broke")
)

// TestRefusal: what leaves the outcome open, and what certainly took nothing.
func TestRefusal(t *testing.T) {
	d := database(&server{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	unsent := env(lb.HostClock{}).Send(ended, lb.Request{}, "insert", func(context.Context) error { panic("it was sent") })
	for _, tc := range []struct {
		err  error
		want lb.Answer
		held bool
	}{
		{errInTheWay, lb.AnswerFailed, true},
		{errRefused, lb.AnswerFailed, false},
		{unsent, lb.AnswerFailed, false},
		{errBroken, lb.AnswerUnknown, false},
		{context.DeadlineExceeded, lb.AnswerUnknown, false},
	} {
		err := d.Refusal("INSERT", tc.err)
		if got := lb.AnswerOf(err); got != tc.want || errors.Is(err, lb.ErrHeld) != tc.held {
			t.Errorf("%v is taken for %s (%v), want %s", tc.err, got, err, tc.want)
		}
	}
}

// TestReleased: how many rows were given up is the answer of a release, if there is one.
func TestReleased(t *testing.T) {
	d := database(&server{})
	for _, tc := range []struct {
		rows int64
		err  error
		want lb.Answer
	}{{1, nil, lb.AnswerOK}, {0, nil, lb.AnswerLost}, {0, errBroken, lb.AnswerUnknown}} {
		if got := lb.AnswerOf(d.Released(sqllock.Result{Rows: tc.rows}, tc.err)); got != tc.want {
			t.Errorf("%d rows and %v are taken for %s, want %s", tc.rows, tc.err, got, tc.want)
		}
	}
}

// graceful is a clock whose sleeps end when the test says so.
type graceful struct {
	lb.HostClock
	asleep chan time.Duration
	wake   chan struct{}
}

func (c graceful) Sleep(ctx context.Context, d time.Duration) error {
	c.asleep <- d
	select {
	case <-c.wake:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// TestContextEnds: a statement that is under way may still be answered for a moment after its context has ended, and
// is given up then.
func TestContextEnds(t *testing.T) {
	for _, answered := range []bool{true, false} {
		reply := make(chan struct{})
		s := &server{answer: func(ctx context.Context, _ string) (int64, error) {
			select {
			case <-reply:
				return 1, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}}
		clock := graceful{asleep: make(chan time.Duration), wake: make(chan struct{})}
		session := s.session(t, clock)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := session.Exec(ctx, lb.Request{}, "insert", "INSERT")
			ended <- err
		}()
		for len(s.heard()) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		if grace := <-clock.asleep; grace <= 0 || grace > ttl/10 {
			t.Errorf("it has %v more", grace)
		}
		select {
		case err := <-ended:
			t.Fatalf("given up together with its context: %v", err)
		default:
		}
		if answered {
			close(reply)
		} else {
			close(clock.wake)
		}
		if err := <-ended; (err == nil) != answered || lb.AnswerOf(err) == lb.AnswerFailed {
			t.Errorf("answered in time: %v, and the error is %v", answered, err)
		}
	}
}

// TestStatementHasATTL: nobody waits longer for an answer, whatever the context says.
func TestStatementHasATTL(t *testing.T) {
	s := &server{answer: func(ctx context.Context, _ string) (int64, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	session := s.session(t, lb.HostClock{})
	session.Env.TTL = 50 * time.Millisecond
	start := time.Now()
	if _, err := session.Statement(t.Context(), "INSERT"); lb.AnswerOf(err) != lb.AnswerUnknown {
		t.Error(err)
	}
	if took := time.Since(start); took < session.Env.TTL {
		t.Errorf("given up after %v", took)
	}
}

// TestInsist: what has to be done is sent until nobody is in the way, or the context ends, and not after another error.
func TestInsist(t *testing.T) {
	for _, tc := range []struct {
		answers []error
		ends    bool // the context, at the last of them
		want    error
	}{
		{answers: []error{errInTheWay, errInTheWay, nil}},
		{answers: []error{errInTheWay, errBroken}, want: errBroken},
		{answers: []error{errInTheWay, errInTheWay}, ends: true, want: errInTheWay},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		sent := 0
		s := &server{answer: func(context.Context, string) (int64, error) {
			sent++
			if tc.ends && sent == len(tc.answers) {
				cancel()
			}
			return 1, tc.answers[sent-1]
		}}
		r, err := s.session(t, lb.HostClock{}).Insist(ctx, lb.Request{}, "delete", "DELETE")
		if !errors.Is(err, tc.want) || err == nil && r.Rows != 1 || sent != len(tc.answers) {
			t.Errorf("%v: %d rows, %v, after %d", tc.answers, r.Rows, err, sent)
		}
		cancel()
	}
}

// TestCreate: each table is made once, the one that others were in the way of, too.
func TestCreate(t *testing.T) {
	failed := false
	s := &server{answer: func(_ context.Context, statement string) (int64, error) {
		switch {
		case statement == "b" && !failed:
			failed = true
			return 0, errInTheWay
		case statement == "c":
			return 0, errRefused
		}
		return 0, nil
	}}
	err := s.session(t, lb.HostClock{}).Create(t.Context(), []string{"a", "b", "c", "d"})
	if said := s.heard(); !errors.Is(err, errRefused) || !slices.Equal(said, []string{"a", "b", "b", "c"}) {
		t.Errorf("%v, after %q", err, said)
	}
}

// TestOpen: of a client that can't be opened nothing is left.
func TestOpen(t *testing.T) {
	for _, tc := range []struct {
		what   string
		tables error
		client error
		want   string
	}{
		{"no table can be made", errRefused, nil, "database: create a table: " + errRefused.Error()},
		{"the client fails", nil, errBroken, "database: " + errBroken.Error()},
	} {
		s := &server{answer: func(context.Context, string) (int64, error) { return 0, tc.tables }}
		a := sqllock.Algorithm{Database: database(s), Tables: []string{"t"}, Client: func(context.Context, sqllock.Session) (lb.Client, error) { return nil, tc.client }}
		if _, err := a.Open(t.Context(), env(lb.HostClock{})); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v", tc.what, err)
		}
		if n := s.left(); n != 0 {
			t.Errorf("%s: %d connections are left", tc.what, n)
		}
	}
	a := sqllock.Algorithm{Database: database(&server{})}
	if _, err := a.Open(t.Context(), &lb.Env{}); err == nil || err.Error() != "database: the run has no server" {
		t.Error(err)
	}
}
