package lockbench_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	lb "github.com/lockbench/lockbench"
)

// bubble is the clock of a synctest bubble, of which [lb.HostClock] reads only half.
type bubble struct {
	lb.HostClock
	start time.Time
}

func (b bubble) Mono() lb.Reading { return 1 + lb.Reading(time.Since(b.start)) }

const ttl = 900 * time.Millisecond

// inTime runs a test with an env in a time of its own.
func inTime(t *testing.T, test func(t *testing.T, env *lb.Env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, &lb.Env{TTL: ttl, Clock: bubble{start: time.Now()}, Rand: rand.New(rand.NewPCG(1, 1))})
	})
}

// releases is a client that answers what it is told to.
type releases struct {
	lb.Client
	answers []error
}

func (r *releases) Release(context.Context, lb.Request) error {
	err := r.answers[0]
	r.answers = r.answers[1:]
	return err
}

// TestAgain: what a release that is sent again may say.
func TestAgain(t *testing.T) {
	lost := errors.New("the answer was lost")
	unsent := fmt.Errorf("%w: %w", lb.ErrNotSent, context.Canceled)
	for _, c := range []struct{ answers, want []error }{
		{[]error{nil}, []error{nil}},
		{[]error{lb.ErrLost}, []error{lb.ErrLost}},
		{[]error{lost, nil}, []error{lost, lb.ErrReleased}},        // the first may have come late
		{[]error{lost, lb.ErrLost}, []error{lost, lb.ErrReleased}}, // the first may have done it
		{[]error{lost, lost, lb.ErrLost}, []error{lost, lost, lb.ErrReleased}},
		{[]error{lost, unsent, lb.ErrLost}, []error{lost, unsent, lb.ErrReleased}},
		{[]error{unsent, nil}, []error{unsent, nil}}, // nobody has heard the first
		{[]error{unsent, lb.ErrLost}, []error{unsent, lb.ErrLost}},
		{[]error{lost, lb.ErrNoEffect, nil}, []error{lost, lb.ErrNoEffect, lb.ErrReleased}}, // it may still hold
		{[]error{lost, nil, lb.ErrLost}, []error{lost, lb.ErrReleased, lb.ErrLost}},         // told once
	} {
		inner := &releases{answers: c.answers}
		again, said := lb.Again(inner), []error{}
		for range c.want {
			said = append(said, again.Release(t.Context(), lb.Request{Owner: "a"}))
		}
		for i := range said {
			if !errors.Is(said[i], c.want[i]) || (c.want[i] == nil) != (said[i] == nil) {
				t.Errorf("answers %q are told as %q, want %q", c.answers, said, c.want)
			}
		}
	}
	again := lb.Again(&releases{answers: []error{lost, lb.ErrLost}})
	_ = again.Release(t.Context(), lb.Request{Owner: "a"})
	if err := again.Release(t.Context(), lb.Request{Owner: "b"}); err != lb.ErrLost {
		t.Errorf("the release of another acquisition: %v", err)
	}
}

// TestPoll asks until the lock is free, with pauses that differ.
func TestPoll(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		var at []time.Time
		want := env.Grant(lb.Request{}, 0, 0)
		got, err := env.Poll(t.Context(), lb.Request{}, func(context.Context) (*lb.Lease, error) {
			if at = append(at, time.Now()); len(at) < 40 {
				return nil, fmt.Errorf("refused: %w", lb.ErrHeld)
			}
			return want, nil
		})
		if got != want || err != nil || len(at) != 40 {
			t.Fatalf("%v, %v after %d tries", got, err, len(at))
		}
		pauses := map[time.Duration]bool{}
		for i := range at[1:] {
			d := at[i+1].Sub(at[i])
			pauses[d] = true
			if d < lb.PollDelay/2 || d >= lb.PollDelay*3/2 {
				t.Errorf("pause %d is %v", i, d)
			}
		}
		if len(pauses) < 30 {
			t.Errorf("the clients march in step: %d different pauses", len(pauses))
		}
	})
}

// TestPollEnds at once for who only tries, and with an error of its own; who gives up in
// a pause has taken nothing.
func TestPollEnds(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		bounded, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		tries := 0
		answer := func(err error) func(context.Context) (*lb.Lease, error) {
			return func(context.Context) (*lb.Lease, error) { tries++; return nil, err }
		}
		if _, err := env.Poll(bounded, lb.Request{Try: true}, answer(lb.ErrHeld)); err != lb.ErrHeld || tries != 1 {
			t.Errorf("try: %v after %d tries", err, tries)
		}
		broken := errors.New("connection lost")
		if _, err := env.Poll(bounded, lb.Request{}, answer(broken)); err != broken || tries != 2 {
			t.Errorf("%v after %d tries", err, tries-1)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := env.Poll(ctx, lb.Request{}, answer(lb.ErrHeld))
		if lb.AnswerOf(err) != lb.AnswerFailed || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("gave up: %v", err)
		}
	})
}

// TestUnsent: only a request that certainly did not leave has no effect.
func TestUnsent(t *testing.T) {
	if err := lb.Unsent(fmt.Errorf("%w: %w", lb.ErrNotSent, context.Canceled)); lb.AnswerOf(err) != lb.AnswerFailed || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := lb.Unsent(context.Canceled); lb.AnswerOf(err) != lb.AnswerUnknown {
		t.Error(err)
	}
}

// TestDetached cleans up for who has given up, for a TTL.
func TestDetached(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		given, giveUp := context.WithCancel(t.Context())
		giveUp()
		ctx, cancel := env.Detached(given)
		defer cancel()
		if ctx.Err() != nil {
			t.Fatal("it ends with the caller")
		}
		start := time.Now()
		<-ctx.Done()
		if took := time.Since(start); took != ttl || ctx.Err() != context.DeadlineExceeded {
			t.Errorf("it ends after %v: %v", took, ctx.Err())
		}
	})
}

// TestExclusive refuses only what the algorithm has not.
func TestExclusive(t *testing.T) {
	c := lb.Exclusive(grants{})
	if _, err := c.Acquire(t.Context(), lb.Request{Shared: true}); err != lb.ErrUnsupported {
		t.Error(err)
	}
	if _, err := c.Acquire(t.Context(), lb.Request{}); err != nil {
		t.Error(err)
	}
}

type grants struct{ lb.Client }

func (grants) Acquire(context.Context, lb.Request) (*lb.Lease, error) { return nil, nil }
