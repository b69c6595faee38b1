package peers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// Rueidislock is the lock of redis/rueidis: two of three keys on one server,
// renewed every half of the TTL, and waiters woken by the invalidations of
// client-side caching. A holder is told that it lost the lock by the end of a
// context. The library gives no time until when it may be relied on, and its
// values are its own: what it can't clean up by itself expires.
func Rueidislock() lb.Impl { return rueidislockImpl{} }

type rueidislockImpl struct{}

func (rueidislockImpl) Info() lb.Info {
	return lb.Info{
		Name:       "peer-rueidislock",
		Doc:        "redis/rueidis/rueidislock: two of three keys, renewed, client-side caching",
		Source:     "github.com/redis/rueidis/rueidislock v1.0.77",
		Topologies: []string{"redis"},
		Steps:      []string{"before-evalsha", "after-evalsha"},
		Traits:     lb.Traits{Renewing: true, Push: true, LostNotice: true},
		Expect: compose.Except(compose.Lease(),
			noEnd("pause-holder"), noEnd("pause-at:before-write"),
			lb.Expectation{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "the notice comes when the renewal that failed would have ended: half a TTL after the lock has expired", Source: measured}),
	}
}

func noEnd(fault string) lb.Expectation {
	return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
		Why: "the library tells no time until when the lock is held, and a frozen process gets no notice", Source: measured}
}

const measured = "the library's code, and measured"

func (rueidislockImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("peers: rueidislock: the run has no server")
	}
	c := &rueidislockClient{env: env}
	option := rueidislock.LockerOption{
		KeyValidity:  env.TTL,
		ClientOption: rueidis.ClientOption{InitAddress: env.Servers[:1]},
		ClientBuilder: func(o rueidis.ClientOption) (rueidis.Client, error) {
			rc, err := rueidis.NewClient(o)
			return stepping{rc, c}, err
		},
	}
	option.ClientOption.Dialer.Timeout = env.TTL
	type opened struct {
		rueidislock.Locker
		error
	}
	done := make(chan opened, 1) // the library can't be told to give up
	go func() {
		l, err := rueidislock.NewLocker(option)
		done <- opened{l, err}
	}()
	select {
	case o := <-done:
		if o.error != nil {
			return nil, fmt.Errorf("peers: rueidislock: connect to %s: %w", env.Servers[0], o.error)
		}
		c.locker = o.Locker
		return compose.Exclusive(c), nil
	case <-ctx.Done():
		go func() {
			if o := <-done; o.error == nil {
				o.Close()
			}
		}()
		return nil, fmt.Errorf("peers: rueidislock: connect to %s: %w", env.Servers[0], ctx.Err())
	}
}

// stepping makes a step before and after every command that is for a request. The
// others are the deletions of a release, of which the library does not say whether
// they were answered.
type stepping struct {
	rueidis.Client
	of *rueidislockClient
}

func (s stepping) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	req, ok := served(ctx)
	if !ok {
		res := s.Client.Do(ctx, cmd)
		if res.NonRedisError() != nil {
			s.of.unanswered.Add(1)
		}
		return res
	}
	name := strings.ToLower(cmd.Commands()[0])
	if err := s.of.env.Step(ctx, "before-"+name, req); err != nil {
		return rueidis.NewErrorResult(err)
	}
	res := s.Client.Do(ctx, cmd)
	_ = s.of.env.Step(ctx, "after-"+name, req) // the library has its answer, whatever ends now
	return res
}

type rueidislockClient struct {
	env        *lb.Env
	locker     rueidislock.Locker
	held       compose.Held[rueidislockHold]
	unanswered atomic.Int64 // deletions
}

// rueidislockHold is a lock that the library has granted.
type rueidislockHold struct {
	ctx     context.Context // the library's, which ends when the lock is lost
	release context.CancelFunc
	lease   *lb.Lease
}

func (c *rueidislockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	// The library holds the lock for as long as this context lives.
	life, giveUp := context.WithCancel(serving(context.WithoutCancel(ctx), req))
	stop := context.AfterFunc(ctx, giveUp)
	h, err := c.lock(life, req)
	if err == nil && !stop() {
		h.release() // granted just as the caller gave up
		err = ctx.Err()
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		giveUp()
		return nil, compose.NoEffect(errors.Join(ctx.Err(), err))
	case errors.Is(err, rueidislock.ErrNotLocked):
		giveUp()
		return nil, lb.ErrHeld
	default:
		giveUp()
		return nil, fmt.Errorf("peers: rueidislock: %w", err)
	}
	h.lease = c.env.Grant(req, 0, 0)
	c.held.Put(req.Owner, h)
	context.AfterFunc(h.ctx, func() {
		if _, held := c.held.Get(req.Owner); held { // else it is the release that ends it
			h.lose()
		}
	})
	return h.lease, nil
}

func (c *rueidislockClient) lock(ctx context.Context, req lb.Request) (h rueidislockHold, err error) {
	if req.Try {
		h.ctx, h.release, err = c.locker.TryWithContext(ctx, req.Lock)
		return h, err
	}
	err = c.env.Wait(ctx, "rueidislock", req, func(ctx context.Context) (err error) {
		h.ctx, h.release, err = c.locker.WithContext(ctx, req.Lock)
		return err
	})
	return h, err
}

func (h rueidislockHold) lose() { h.lease.Lose("the library ended the lock's context") }

// Release returns ErrLost if the holder has been told so before: the library does
// not say whether its keys were still there.
func (c *rueidislockClient) Release(ctx context.Context, req lb.Request) error {
	h, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	lost := h.ctx.Err() != nil
	if lost {
		h.lose()
	}
	c.held.Drop(req.Owner)
	before, done := c.unanswered.Load(), make(chan struct{})
	go func() {
		h.release()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("peers: rueidislock: release: %w", ctx.Err())
	}
	switch {
	case lost:
		return lb.ErrLost
	case c.unanswered.Load() != before:
		return errors.New("peers: rueidislock: release: the server did not answer")
	}
	return nil
}

func (c *rueidislockClient) Close() error {
	c.locker.Close()
	return nil
}
