package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// lock answers as the test wants.
type lock struct {
	env      *lb.Env
	acquire  error
	releases []error
}

func (l *lock) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	for range 2 {
		if err := l.env.Send(ctx, req, "ask", func(context.Context) error { return nil }); err != nil {
			return nil, err
		}
	}
	_ = l.env.Send(lb.As(ctx, lb.Renewal), req, "ask", func(context.Context) error { return nil })
	_ = l.env.Step(ctx, req, "before-nothing-that-is-sent")
	return l.env.Grant(req, 1, 0), l.acquire
}

func (l *lock) Release(context.Context, lb.Request) (err error) {
	err, l.releases = l.releases[0], l.releases[1:]
	return err
}

func (l *lock) Close() error { return nil }

func newClient(l *lock) (*client, *history.Events) {
	var got history.Events
	traps, _ := newTraps()
	record := func(ev history.Event) { got = append(got, ev) }
	p := &probe{client: "w1.c1", traps: traps, record: record, asks: map[string]bool{"before-ask": true}}
	l.env = &lb.Env{Client: "w1.c1", TTL: 1e9, Clock: lb.HostClock{}, Probe: p}
	return &client{name: "w1.c1", worker: "w1", env: l.env, record: record, probe: p, session: l}, &got
}

// TestRequestsAreCounted: those that were sent for the operation, but no renewals, and
// no step that only sounds like a request.
func TestRequestsAreCounted(t *testing.T) {
	c, got := newClient(&lock{releases: []error{nil}})
	lease, err := c.Acquire(t.Context(), workloads.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if ret := (*got)[1]; ret.Kind != history.KindReturn || ret.Requests != 2 {
		t.Errorf("recorded %+v, want two requests", ret)
	}
	if (*got)[0].Worker != "w1" || (*got)[2].Worker != "" {
		t.Errorf("the worker is said once, at first: %+v", *got)
	}
}

// TestUnclearAcquire is given back, with the answer as it is: released is no proof that
// it was held until then.
func TestUnclearAcquire(t *testing.T) {
	c, got := newClient(&lock{acquire: errors.New("no answer"), releases: []error{errors.New("none either"), lb.ErrReleased}})
	_, err := c.Acquire(t.Context(), workloads.Ask{})
	var of *workloads.LockError
	if !errors.As(err, &of) {
		t.Errorf("the error %v is not one of the lock", err)
	}
	var answers []lb.Answer
	for _, ev := range *got {
		if ev.Kind == history.KindReturn {
			answers = append(answers, ev.Result)
		}
	}
	want := []lb.Answer{lb.AnswerUnknown, lb.AnswerUnknown, lb.AnswerReleased}
	if len(answers) != 3 || answers[0] != want[0] || answers[1] != want[1] || answers[2] != want[2] {
		t.Errorf("recorded %v, want %v", answers, want)
	}
}

// TestPatienceOfALock: who waits no longer because its caller does not has made no error, and who waits no
// longer by a bound of its own has.
func TestPatienceOfALock(t *testing.T) {
	for _, callers := range []bool{true, false} {
		c, got := newClient(&lock{acquire: fmt.Errorf("read: %w", context.DeadlineExceeded), releases: []error{nil}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		if callers {
			cancel()
		}
		_, _ = c.Acquire(ctx, workloads.Ask{})
		cancel()
		if ret := (*got)[1]; ret.Error == callers {
			t.Errorf("the caller had given up %v, and an error is recorded %v", callers, ret.Error)
		}
	}
}

// task fails as the test wants.
type task struct {
	stop context.CancelFunc
	errs []error
}

func (t *task) Run(context.Context, workloads.Session) (err error) {
	if len(t.errs) == 1 {
		t.stop()
	}
	err, t.errs = t.errs[0], t.errs[1:]
	return err
}
func (t *task) Close() error { return nil }

type noPause struct{}

func (noPause) Await(context.Context) error { return nil }

// TestFailedWork: what fails in the work is recorded, what fails in the lock is not
// taken for it.
func TestFailedWork(t *testing.T) {
	c, got := newClient(&lock{})
	ctx, stop := context.WithCancel(t.Context())
	c.task, c.pacer = &task{stop, []error{&workloads.LockError{Err: lb.ErrHeld}, errors.New("the store is gone"), nil}}, noPause{}
	c.run(ctx)
	if len(*got) != 1 || (*got)[0].Kind != history.KindFailed || (*got)[0].Note != "the store is gone" {
		t.Errorf("recorded %+v", *got)
	}
	if c.sections.Load() != 1 {
		t.Errorf("%d sections", c.sections.Load())
	}
}

// TestTwoLocksOfOneSession: what became of the outer one nobody knows when the session was
// given up with the inner one, and that is what is recorded.
func TestTwoLocksOfOneSession(t *testing.T) {
	gone := errors.New("no answer")
	c, got := newClient(&lock{releases: []error{gone, gone, gone, gone}})
	outer, err := c.Acquire(t.Context(), workloads.Ask{Lock: "outer"})
	if err != nil {
		t.Fatal(err)
	}
	inner, err := c.Acquire(t.Context(), workloads.Ask{Lock: "inner"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Release(t.Context(), inner), c.Release(t.Context(), outer)); lb.AnswerOf(err) != lb.AnswerUnknown {
		t.Errorf("answered %v", err)
	}
	last := (*got)[len(*got)-1]
	if last.Kind != history.KindReturn || last.Op != history.OpRelease || last.Lock != "outer" || last.Result != lb.AnswerUnknown {
		t.Errorf("recorded last %+v, want an unknown release of the outer lock", last)
	}
}

// TestReleaseAgain: who is told so calls the same release twice, once, behind the answer to
// the first; and both are recorded as what they are.
func TestReleaseAgain(t *testing.T) {
	c, got := newClient(&lock{releases: []error{nil, lb.ErrLost, nil}})
	var answers []lb.Answer
	told := func(a lb.Answer) { answers = append(answers, a) }
	c.again.Store(&told)
	for range 2 {
		lease, err := c.Acquire(t.Context(), workloads.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	if len(answers) != 1 || answers[0] != lb.AnswerLost {
		t.Errorf("told %v, want that it was lost, once", answers)
	}
	var releases []string
	for _, ev := range *got {
		if ev.Kind == history.KindReturn && ev.Op == history.OpRelease {
			releases = append(releases, ev.ID+" "+ev.Result.String())
		}
	}
	if want := []string{"w1.c1.1 ok", "w1.c1.1 lost", "w1.c1.2 ok"}; !slices.Equal(releases, want) {
		t.Errorf("recorded %q, want %q", releases, want)
	}
}

// patientLock notes how long each of its requests may take, and gives the release up unanswered.
type patientLock struct {
	lock
	frozen func()
	left   []time.Duration
}

func (l *patientLock) Release(ctx context.Context, req lb.Request) error {
	for range 2 {
		if err := l.env.Send(ctx, req, "ask", func(ctx context.Context) error {
			end, _ := ctx.Deadline()
			l.left = append(l.left, time.Until(end))
			return nil
		}); err != nil {
			return err
		}
		l.frozen()
	}
	return nil
}

// TestRequestsOfARelease have a time of their own: one that was frozen between two of them for longer
// than the lease sends the second, and after the end of the run it is left alone after a lease.
func TestRequestsOfARelease(t *testing.T) {
	const ttl = 60 * time.Millisecond
	l := &patientLock{frozen: func() {}}
	c, _ := newClient(&l.lock)
	l.env.TTL, c.session, c.caller = ttl, l, newCaller(lb.Info{}, 1, 1)
	lease, err := c.Acquire(t.Context(), workloads.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	l.frozen = func() { time.Sleep(2 * ttl) }
	if err := c.Release(t.Context(), lease); err != nil || len(l.left) != 2 || l.left[1] > requestTime(ttl) || l.left[1] < 0 {
		t.Errorf("%v: the requests had %v each, want two, and %v for the second", err, l.left, requestTime(ttl))
	}
	over, end := context.WithCancel(t.Context())
	end()
	var stopped context.Context
	l.frozen = func() { <-stopped.Done() }
	ctx, cancel := c.caller.patience(over, l.env)
	defer cancel()
	stopped = ctx
	if err := l.Release(ctx, lease.Request); !errors.Is(err, lb.ErrNotSent) {
		t.Errorf("after the end of the run: %v, want that it was stopped", err)
	}
}

// TestCallersComeBack as the seed draws it: at once, when they hold a lock again, or never; and at
// once where a lock ends with a session, which would be kept for ever.
func TestCallersComeBack(t *testing.T) {
	gone := errors.New("no answer")
	leased := lb.Info{Traits: lb.Traits{Leased: true}}
	seen := map[string]int{}
	for seed := range uint64(40) {
		c, got := newClient(&lock{releases: []error{gone, lb.ErrReleased, nil, nil}})
		c.caller = newCaller(leased, seed, 1)
		for range 2 {
			lease, err := c.Acquire(t.Context(), workloads.Ask{})
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Release(t.Context(), lease)
		}
		var calls []string
		for _, ev := range *got {
			if ev.Kind == history.KindCall {
				calls = append(calls, ev.Op+" "+ev.ID[len("w1.c1."):])
			}
		}
		seen[strings.Join(calls, ", ")]++
	}
	for _, want := range []string{
		"acquire 1, release 1, release 1, acquire 2, release 2",
		"acquire 1, release 1, acquire 2, release 1, release 2",
		"acquire 1, release 1, acquire 2, release 2",
	} {
		if seen[want] < 4 {
			t.Errorf("%d of 40 callers did %q", seen[want], want)
		}
	}
	if len(seen) != 3 {
		t.Errorf("callers did %v", seen)
	}
	session := newCaller(lb.Info{Traits: lb.Traits{Leased: true, Session: true}}, 1, 1)
	for range 40 {
		if session.comes() != atOnce {
			t.Fatal("somebody keeps a lock for as long as its session lasts")
		}
	}
}
