package published

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// Lettuce is the lock of listing 000, written in Java with the lettuce driver:
// SET NX EX, a thread that renews, and a thread-local variable for reentrancy.
//
//	lock():    until tryLock() says yes, sleep renewalTime >> 1
//	tryLock(): if the thread-local is set, yes                      (1)
//	           SET key value NX EX lockTime; if it was set, set the thread-local,
//	           start the renewal thread, yes
//	unlock():  stop renewing; compare-and-delete in Lua             (2)
//
// (1) and (2): unlock() never removes the thread-local. From a thread's second
// lock() on, the answer is yes and the server is not asked.
//
// A client of the bench is one thread with a lock object of its own. The listing
// does not show how long lockTime and renewalTime are; the port takes the TTL and
// a third of it.
func Lettuce() lb.Impl {
	return onRedis{
		info: lb.Info{
			Name:       "published-000-lettuce",
			Doc:        "SET NX EX, a renewal thread, thread-local reentrancy that is never cleared",
			Source:     "listing 000, the lettuce lock",
			Topologies: []string{"redis"},
			Requests:   []string{"set", "expire", "del"},
			Takes:      "set",
			Traits:     lb.Traits{Renewing: true, Reentrant: true},
			Expect: []lb.Expectation{{
				Fault: "*", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why:    "unlock() leaves the thread-local set: every later lock() of the thread succeeds without a request",
				Source: "the listing",
			}},
		},
		open: func(env *lb.Env, rdb *redis.Client) lb.Client {
			return &lettuceThread{env: env, rdb: rdb, locks: map[string]*lettuceLock{}}
		},
	}
}

// lettuceThread is one thread and its lock objects, by key.
type lettuceThread struct {
	env   *lb.Env
	rdb   *redis.Client
	locks map[string]*lettuceLock
}

// lettuceLock has the fields of the listing's lock.
type lettuceLock struct {
	*lettuceThread
	lockKey     string
	lockValue   string // constant for the life of the object
	lockTime    int64  // seconds
	renewalTime time.Duration

	isOpenExpirationRenewal atomic.Bool
	threadLocal             *lettuceLock
}

func (t *lettuceThread) lockFor(key string) *lettuceLock {
	l, ok := t.locks[key]
	if !ok {
		l = &lettuceLock{lettuceThread: t, lockKey: key, lockTime: seconds(t.env), renewalTime: t.env.TTL / 3,
			lockValue: fmt.Sprintf("%s:%x", t.env.Client, t.env.Rand.Uint64())}
		t.locks[key] = l
	}
	return l
}

func (t *lettuceThread) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	l, granted, err := t.lockFor(req.Lock), true, error(nil)
	deadline, timed := ctx.Deadline()
	switch {
	case req.Try:
		granted, err = l.tryLock(ctx, req)
	case timed:
		granted, err = l.tryLockFor(ctx, req, time.Until(deadline))
	default:
		err = l.lock(ctx, req)
	}
	switch {
	case err != nil:
		return nil, err
	case !granted:
		return nil, lb.ErrHeld
	}
	return t.env.Grant(req, 0, 0), nil // the listing tells its caller of no end
}

func (l *lettuceLock) lock(ctx context.Context, req lb.Request) error {
	for {
		if ok, err := l.tryLock(ctx, req); ok || err != nil {
			return err
		}
		if err := l.env.Sleep(ctx, req, lb.RetryDelay, l.renewalTime>>1); err != nil {
			return lb.NoEffect(err)
		}
	}
}

func (l *lettuceLock) tryLock(ctx context.Context, req lb.Request) (bool, error) {
	if l.threadLocal != nil {
		return true, nil
	}
	set, err := take(ctx, l.env, req, "set", func(ctx context.Context) (bool, error) {
		return l.rdb.SetNX(ctx, l.lockKey, l.lockValue, time.Duration(l.lockTime)*time.Second).Result()
	})
	if err != nil || !set {
		return false, lb.Unsent(err)
	}
	l.isOpenExpirationRenewal.Store(true)
	l.threadLocal = l
	l.scheduleExpirationRenewal(req)
	return true, nil
}

// tryLockFor is the timed tryLock. Its loop compares the time of its begin with a
// time that is later by definition, so that it never gives up, and it does not
// sleep. (In the listing it would not come so far: it casts the caller's TimeUnit
// to a TemporalUnit, which no TimeUnit is.)
func (l *lettuceLock) tryLockFor(ctx context.Context, req lb.Request, wait time.Duration) (bool, error) {
	now := l.env.Clock.Now()
	for now.Before(now.Add(wait)) {
		if ok, err := l.tryLock(ctx, req); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// scheduleExpirationRenewal starts another thread at each grant. That of the grant
// before may be asleep, and find the flag open again when it wakes.
func (l *lettuceLock) scheduleExpirationRenewal(req lb.Request) {
	ctx := context.Background() // nobody interrupts the thread
	l.env.Go(ctx, lb.Renewal, func(ctx context.Context) { l.expirationRenewal(ctx, req) })
}

func (l *lettuceLock) expirationRenewal(ctx context.Context, req lb.Request) {
	for l.isOpenExpirationRenewal.Load() {
		_ = l.env.Sleep(ctx, req, "renewal", l.renewalTime)
		if _, err := ask(ctx, l.env, req, "expire", func(ctx context.Context) (int64, error) {
			return compareAndExpire.Eval(ctx, l.rdb, []string{l.lockKey}, l.lockValue, l.lockTime).Int64()
		}); err != nil {
			return // an exception that nobody catches ends the thread
		}
		// The listing prints whether it was renewed, and goes on either way.
	}
}

var (
	compareAndExpire = redis.NewScript(`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('expire', KEYS[1], ARGV[2]) else return 0 end`)
	compareAndDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`)
)

// Release is unlock(). The listing prints "released" or "was released long ago";
// the port returns it.
func (t *lettuceThread) Release(ctx context.Context, req lb.Request) error {
	l := t.lockFor(req.Lock)
	l.isOpenExpirationRenewal.Store(false)
	n, err := ask(ctx, t.env, req, "del", func(ctx context.Context) (int64, error) {
		return compareAndDelete.Eval(ctx, l.rdb, []string{l.lockKey}, l.lockValue).Int64()
	})
	if err == nil && n == 0 {
		return lb.ErrLost
	}
	return err
}

// Close closes the connection, which also ends the renewal threads: their next
// request fails.
func (t *lettuceThread) Close() error { return t.rdb.Close() }
