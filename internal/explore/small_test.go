package explore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// small is a lock on Redis of a few lines: correct, or with one mistake that some order shows.
type small struct {
	name     string
	requests []string
	reads    []string
	traits   lb.Traits
	takes    string
	work     string // what clients do with it, "" for the counter
	acquire  func(*session, context.Context, lb.Request) (*lb.Lease, error)
	release  func(*session, context.Context, lb.Request) error
}

// Info implements [lb.Impl].
func (s small) Info() lb.Info {
	takes := s.takes
	if takes == "" {
		takes = s.requests[0]
	}
	return lb.Info{Name: s.name, Doc: "a small lock", Source: "this test", Topologies: []string{"redis"}, Requests: s.requests, Reads: s.reads, Takes: takes, Traits: s.traits}
}

// Open implements [lb.Impl].
func (s small) Open(_ context.Context, env *lb.Env) (lb.Client, error) {
	return &session{small: s, env: env, keeps: map[string]int{}, stops: map[string]func(){},
		redis: redis.NewClient(&redis.Options{Addr: env.Servers[0], MaxRetries: -1, DialerRetries: 1, PoolSize: 3, ReadTimeout: -1, WriteTimeout: -1, ContextTimeoutEnabled: true})}, nil
}

// session is one client of a small lock.
type session struct {
	small
	env   *lb.Env
	redis *redis.Client
	keeps map[string]int // whatever a lock remembers
	stops map[string]func()
	sub   *redis.PubSub
}

// Acquire implements [lb.Client].
func (s *session) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return s.acquire(s, ctx, req)
}

// Release implements [lb.Client].
func (s *session) Release(ctx context.Context, req lb.Request) error {
	if stop := s.stops[req.Owner]; stop != nil {
		stop()
		delete(s.stops, req.Owner)
	}
	return s.release(s, ctx, req)
}

// Close implements [lb.Client].
func (s *session) Close() error {
	for _, stop := range s.stops {
		stop()
	}
	if s.sub != nil {
		_ = s.sub.Close()
	}
	return s.redis.Close()
}

// errRefused is the answer nil.
var errRefused = errors.New("refused")

// do sends a command as the request of that name.
func (s *session) do(ctx context.Context, req lb.Request, name string, args ...any) (answer any, err error) {
	err = s.env.Send(ctx, req, name, func(ctx context.Context) (err error) {
		answer, err = s.redis.Do(ctx, args...).Result()
		return err
	})
	if errors.Is(err, redis.Nil) {
		return nil, errRefused
	}
	return answer, err
}

// number is do, where the answer is one.
func (s *session) number(ctx context.Context, req lb.Request, name string, args ...any) (int64, error) {
	answer, err := s.do(ctx, req, name, args...)
	if err != nil {
		return 0, err
	}
	n, ok := answer.(int64)
	if !ok {
		return 0, fmt.Errorf("%v is no number", answer)
	}
	return n, nil
}

// eval is number of a script over the lock's key, and one beside it.
func (s *session) eval(ctx context.Context, req lb.Request, name, script string, args ...any) (int64, error) {
	return s.number(ctx, req, name, append([]any{"EVAL", script, 2, req.Lock, req.Lock + ":more"}, args...)...)
}

// taken makes an answer the outcome of a try: 1 is a grant.
func (s *session) taken(req lb.Request, call lb.Reading, n int64, err error) (*lb.Lease, error) {
	switch {
	case errors.Is(err, errRefused), err == nil && n != 1:
		return nil, lb.ErrHeld
	case err != nil:
		return nil, err
	}
	return s.env.Grant(req, 0, s.env.Validity(call)), nil
}

// set is SET NX PX.
func (s *session) set(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	call := s.env.Clock.Mono()
	_, err := s.do(ctx, req, "set", "SET", req.Lock, req.Owner, "NX", "PX", s.env.TTL.Milliseconds())
	return s.taken(req, call, 1, err)
}

// gone makes an answer the outcome of a release: 1 is a key that was the owner's.
func gone(n int64, err error) error {
	if err == nil && n != 1 {
		return lb.ErrLost
	}
	return err
}

const compareAndDelete = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`

// safeDelete is the release by owner.
func safeDelete(s *session, ctx context.Context, req lb.Request) error {
	return gone(s.eval(ctx, req, "delete", compareAndDelete, req.Owner))
}

// plainDelete is the release whoever owns it.
func plainDelete(s *session, ctx context.Context, req lb.Request) error {
	return gone(s.number(ctx, req, "del", "DEL", req.Lock))
}

// plainSet is the acquisition by SET NX PX.
func plainSet(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return s.set(ctx, req)
}

// renewed has a lease renewed once, or never, by the request that renew sends.
func (s *session) renewed(lease *lb.Lease, renew func(ctx context.Context) (int64, error)) *lb.Lease {
	ctx, stop := context.WithCancel(context.Background())
	spare := s.env.After(ctx, lb.Renewal, lease.Request, "renewal", s.env.TTL/3, func(ctx context.Context) {
		call := s.env.Clock.Mono()
		n, err := renew(ctx)
		switch {
		case err == nil && n == 1:
			lease.Extend(call, s.env.Validity(call))
		case err == nil:
			lease.Lose("the server refused the renewal")
		}
	})
	s.stops[lease.Request.Owner] = func() { spare(); stop() }
	return lease
}

var leased = lb.Traits{Leased: true}

// smalls are all, by what some order does to them: nothing, or one of the faults.
func smalls() []smallCase {
	const compareAndExpire = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`
	return slices.Concat(rightSmalls(compareAndExpire), wrongSmalls(), mergedSmalls(), workedSmalls())
}
