package peers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

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
		Requests:   []string{"acquire-evalsha", "acquire-eval", "renew-evalsha", "renew-eval", "release-evalsha", "release-eval"},
		Takes:      "acquire-evalsha",
		Scripts:    true,
		OwnClock:   true,
		WallClock:  true,
		Traits:     lb.Traits{Renewing: true, Push: true, LostNotice: true},
		Expect: compose.Except(compose.InRedis(compose.RenewedOnWallClock(compose.Lease())), append(slices.Concat(
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "the library tells no time until when the lock is held, and a frozen process gets no notice", Source: measured}, "pause-holder", "pause@before-write"),
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
				Why: "the invalidations tell the holder at once, and all who wait: whether one of them is faster, or any gets the lock, is chance", Source: measured}, "flushall", "evict", "evict:volatile-ttl")),
			lb.Expectation{Fault: "client-clock:back", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "it tells the server by the machine's wall clock when a key ends: by one that is behind that is over when it is granted", Source: measured},
			lb.Expectation{Fault: "out-of-memory", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
				Why: "who is refused for want of memory waits for the invalidation of a key that is not there, for ever: docs/findings/rueidislock-waits-for-ever.md", Source: measured},
			lb.Expectation{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "the notice comes when the renewal that failed would have ended: half a TTL after the lock has expired", Source: measured})...),
	}
}

const measured = "the library's code, and measured"

func (rueidislockImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("rueidislock: the run has no server")
	}
	c := &rueidislockClient{env: env}
	option := rueidislock.LockerOption{
		KeyPrefix:    lb.Prefix,
		KeyValidity:  env.TTL,
		TryNextAfter: max(20*time.Millisecond, env.TTL/250), // its defaults: 20 ms, and 5 s for a lease
		ClientOption: rueidis.ClientOption{InitAddress: env.Servers[:1]},
		ClientBuilder: func(o rueidis.ClientOption) (rueidis.Client, error) {
			rc, err := rueidis.NewClient(o)
			return stepping{rc, c}, err
		},
	}
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
			return nil, fmt.Errorf("rueidislock: connect to %s: %w", env.Servers[0], o.error)
		}
		c.locker = o.Locker
		return lb.Again(lb.Exclusive(c)), nil
	case <-ctx.Done():
		go func() {
			if o := <-done; o.error == nil {
				o.Close()
			}
		}()
		return nil, fmt.Errorf("rueidislock: connect to %s: %w", env.Servers[0], ctx.Err())
	}
}

// stepping sends the library's commands. Those of an acquisition bear its request,
// and are renewals once it is granted; the others are the deletions of a release, or
// of an attempt that failed. What the library's driver sends again by itself, after
// a lost reply, is not seen here.
type stepping struct {
	rueidis.Client
	of *rueidislockClient
}

func (s stepping) Do(ctx context.Context, cmd rueidis.Completed) (res rueidis.RedisResult) {
	a, asked := ctx.Value(askedKey{}).(*acquisition)
	op := "acquire-"
	switch {
	case asked && a.granted.Load():
		op, ctx = "renew-", lb.As(ctx, lb.Renewal)
	case !asked:
		op = "release-"
		a, ctx = s.of.releasing(ctx)
	}
	name := op + strings.ToLower(cmd.Commands()[0])
	ctx = lb.To(ctx, keyOf(cmd.Commands()))
	err := s.of.env.Send(ctx, a.req, name, func(ctx context.Context) error {
		res = s.Client.Do(ctx, cmd)
		return res.Error() // also where a script says no
	})
	if errors.Is(err, lb.ErrNotSent) {
		return rueidis.NewErrorResult(err)
	}
	if !asked {
		if res.NonRedisError() != nil {
			s.of.unanswered.Add(1)
		}
		n, _ := res.AsInt64() // 0 where there is no script of that name yet
		s.of.deleted.Add(n)
	}
	return res // the library has its answer, whatever ends now
}

// releasing is the acquisition that Release gives back, if it does; otherwise the
// library cleans up.
func (c *rueidislockClient) releasing(ctx context.Context) (*acquisition, context.Context) {
	if a := c.release.Load(); a != nil {
		return a, ctx
	}
	return &acquisition{}, lb.As(ctx, lb.CleanUp)
}

// keyOf is which of a lock's keys a script is run for, from 1.
func keyOf(script []string) int {
	if len(script) > 3 {
		for i := range 2*majority - 1 {
			if strings.HasPrefix(script[3], fmt.Sprintf("%s:%d:", lb.Prefix, i)) {
				return i + 1
			}
		}
	}
	return 0
}

type askedKey struct{}

// acquisition is what the library's commands are sent for.
type acquisition struct {
	req     lb.Request
	granted atomic.Bool
}

type rueidislockClient struct {
	env        *lb.Env
	locker     rueidislock.Locker
	held       lb.Held[*rueidislockHold]
	release    atomic.Pointer[acquisition] // what is being given back
	unanswered atomic.Int64                // deletions
	deleted    atomic.Int64                // keys
}

// rueidislockHold is a lock that the library has granted.
type rueidislockHold struct {
	*acquisition
	ctx     context.Context // the library's, which ends when the lock is lost
	release context.CancelFunc
	lease   *lb.Lease
	deaf    func() bool // no longer hears of the context's end, unless it has
	unsure  bool        // its keys may be there until they expire
}

func (c *rueidislockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	// The library holds the lock for as long as this context lives.
	h := &rueidislockHold{acquisition: &acquisition{req: req}}
	life, giveUp := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), askedKey{}, h.acquisition))
	stop := context.AfterFunc(ctx, giveUp)
	err := c.lock(life, h)
	if err == nil && !stop() {
		h.release() // granted just as the caller gave up
		err = ctx.Err()
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		giveUp()
		return nil, lb.NoEffect(errors.Join(ctx.Err(), err))
	case errors.Is(err, rueidislock.ErrNotLocked):
		giveUp()
		return nil, lb.ErrHeld
	default:
		giveUp()
		return nil, fmt.Errorf("rueidislock: %w", err)
	}
	h.lease = c.env.Grant(req, 0, 0)
	h.granted.Store(true)
	c.held.Put(req.Owner, h)
	h.deaf = context.AfterFunc(h.ctx, h.lose)
	return h.lease, nil
}

func (c *rueidislockClient) lock(ctx context.Context, h *rueidislockHold) (err error) {
	if h.req.Try {
		h.ctx, h.release, err = c.locker.TryWithContext(ctx, h.req.Lock)
		return err
	}
	return c.env.Wait(ctx, h.req, "rueidislock", func(ctx context.Context) (err error) {
		h.ctx, h.release, err = c.locker.WithContext(ctx, h.req.Lock)
		return err
	})
}

func (h *rueidislockHold) lose() { h.lease.Lose("the library ended the lock's context") }

// Release tells by the keys that were deleted whether the lock was held until now.
// The library does not say; and where fewer were there, a deletion may have been
// sent again after a lost reply.
func (c *rueidislockClient) Release(ctx context.Context, req lb.Request) error {
	h, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if h.unsure {
		return errors.New("rueidislock: an earlier release was not answered")
	}
	lost := !h.deaf()
	c.release.Store(h.acquisition)
	h.unsure = true
	unanswered, deleted, done := c.unanswered.Load(), c.deleted.Load(), make(chan struct{})
	go func() {
		h.release()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("rueidislock: release: %w", ctx.Err())
	}
	c.release.Store(nil)
	if c.unanswered.Load() != unanswered {
		return errors.New("rueidislock: release: the server did not answer")
	}
	c.held.Drop(req.Owner)
	switch {
	case c.deleted.Load()-deleted >= majority:
		return nil
	case lost:
		return lb.ErrLost
	}
	return lb.ErrReleased
}

// majority is how many of its three keys the library takes for the lock.
const majority = 2

func (c *rueidislockClient) Close() error {
	c.locker.Close()
	return nil
}
