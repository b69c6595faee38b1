package published

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

// RedisLockUtil is RedisLockUtil.lock and unlock1 of listing 002:
//
//	lock(key, expire): status = SETNX key "1"
//	                   if status == 1: EXPIRE key expire, true; else false
//	unlock1(key):      DEL key
//
// lock never waits; where the listing's caller gives up, the bench's client tries
// again.
func RedisLockUtil() lb.Impl {
	const listing = "the listing"
	return onRedis{
		info: lb.Info{
			Name:       "published-002-redislockutil-lock",
			Doc:        "RedisLockUtil.lock: SETNX, then EXPIRE; unlock1: DEL",
			Source:     "listing 002, RedisLockUtil",
			Topologies: []string{"redis"},
			Steps:      []string{"before-setnx", "after-setnx", "after-expire", "before-del", "after-del"},
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(compose.Lease(),
				lb.Expectation{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
					Why: "unlock1 of the late holder frees the lock of the next one", Source: listing},
				lb.Expectation{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Broken, lb.Check},
					Why: "so does the late unlock1, unless TCP delivers it while nobody holds the lock", Source: listing},
				lb.Expectation{Fault: "pause-at:before-write", Outcomes: []lb.Outcome{lb.Broken},
					Why: "late write and late unlock1", Source: listing},
				lb.Expectation{Fault: "crash-at:after-setnx", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
					Why: "the key has no expiry yet and nobody is left to delete it", Source: listing},
			),
		},
		open: func(env *lb.Env, rdb *redis.Client) lb.Client { return &lockUtil{env, rdb} },
	}
}

type lockUtil struct {
	env *lb.Env
	rdb *redis.Client
}

func (u *lockUtil) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return compose.Poll(ctx, u.env, req, func(ctx context.Context) (*lb.Lease, error) {
		if err := u.env.Step(ctx, "before-setnx", req); err != nil {
			return nil, compose.NoEffect(err)
		}
		status, err := u.rdb.SetNX(ctx, req.Lock, "1", 0).Result()
		if err != nil {
			return nil, fmt.Errorf("published: SETNX: %w", err)
		}
		if !status {
			return nil, lb.ErrHeld
		}
		if err := u.env.Step(ctx, "after-setnx", req); err != nil {
			return nil, err
		}
		call := u.env.Clock.Mono()
		if err := u.rdb.Expire(ctx, req.Lock, time.Duration(seconds(u.env))*time.Second).Err(); err != nil {
			return nil, fmt.Errorf("published: EXPIRE: %w", err)
		}
		if err := u.env.Step(ctx, "after-expire", req); err != nil {
			return nil, err
		}
		return u.env.Grant(req, 0, u.env.Validity(call)), nil
	})
}

func (u *lockUtil) Release(ctx context.Context, req lb.Request) error {
	return deleted(ctx, u.env, req, func(ctx context.Context) (int64, error) {
		return u.rdb.Del(ctx, req.Lock).Result()
	})
}

func (u *lockUtil) Close() error { return u.rdb.Close() }

// RedisLockUtil2 is RedisLockUtil.lock2 and unlock2 of listing 002:
//
//	lock2(key, expire):                                    // expire: in seconds
//	    value = currentTimeMillis() + expire               // (1)
//	    if SETNX key value == 1: true
//	    old = parseLong(GET key, default "0")
//	    if old < currentTimeMillis():
//	        current = parseLong(GETSET key (currentTimeMillis() + expire))
//	        if current == old: true                        // (2)
//	    false
//	unlock2(key):
//	    old = parseLong(GET key, default "0")
//	    if old > currentTimeMillis(): DEL key              // (3)
//
// (1) adds seconds to milliseconds: what is meant to last for 60 s is over after
// 60 ms, and after a millisecond what is meant to last for one second. (2) is
// printed with one =, a slip of the page's, as elsewhere in it. (3) looks at the
// time of whoever holds the lock by now, not at its own. GETSET of a key that was
// deleted meanwhile returns null, and parseLong throws: the key stays set.
//
// The lease that the caller believes in is the one of the method's documentation:
// expire seconds. lock2 never waits; the bench's client tries again.
func RedisLockUtil2() lb.Impl {
	return onRedis{
		info: lb.Info{
			Name:       "published-002-redislockutil-lock2",
			Doc:        "RedisLockUtil.lock2: SETNX, GET, GETSET with a time that is over at once; unlock2",
			Source:     "listing 002, RedisLockUtil",
			Topologies: []string{"redis"},
			Steps: []string{"before-setnx", "after-setnx", "before-get", "after-get", "before-getset", "after-getset",
				"before-unlock-get", "after-unlock-get", "before-del", "after-del"},
			Traits: lb.Traits{Leased: true},
			Expect: []lb.Expectation{{
				Fault: "*", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "currentTimeMillis() + seconds: the lock is over a few milliseconds after it was taken", Source: "the listing",
			}},
		},
		open: func(env *lb.Env, rdb *redis.Client) lb.Client { return &lockUtil2{lockUtil{env, rdb}} },
	}
}

type lockUtil2 struct{ lockUtil }

func (u *lockUtil2) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return compose.Poll(ctx, u.env, req, func(ctx context.Context) (*lb.Lease, error) {
		call := u.env.Clock.Mono()
		ok, err := u.lock2(ctx, req, seconds(u.env))
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, lb.ErrHeld
		}
		return u.env.Grant(req, 0, u.env.Validity(call)), nil
	})
}

func (u *lockUtil2) currentTimeMillis() int64 { return u.env.Clock.Now().UnixMilli() }

func (u *lockUtil2) lock2(ctx context.Context, req lb.Request, expire int64) (bool, error) {
	if err := u.env.Step(ctx, "before-setnx", req); err != nil {
		return false, compose.NoEffect(err)
	}
	status, err := u.rdb.SetNX(ctx, req.Lock, u.currentTimeMillis()+expire, 0).Result()
	if err != nil {
		return false, fmt.Errorf("published: SETNX: %w", err)
	}
	if status {
		return true, u.env.Step(ctx, "after-setnx", req)
	}
	old, err := u.get(ctx, req, "get")
	if err != nil {
		return false, compose.NoEffect(err)
	}
	if old < u.currentTimeMillis() {
		return u.getSet(ctx, req, old, expire)
	}
	return false, nil
}

// get reads the time in the key, 0 where there is none.
func (u *lockUtil2) get(ctx context.Context, req lb.Request, step string) (int64, error) {
	if err := u.env.Step(ctx, "before-"+step, req); err != nil {
		return 0, err
	}
	old, err := u.rdb.Get(ctx, req.Lock).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("published: GET: %w", err)
	}
	return old, u.env.Step(ctx, "after-"+step, req)
}

func (u *lockUtil2) getSet(ctx context.Context, req lb.Request, old, expire int64) (bool, error) {
	if err := u.env.Step(ctx, "before-getset", req); err != nil {
		return false, compose.NoEffect(err)
	}
	//lint:ignore SA1019 the algorithm is made of SETNX, GET and GETSET
	current, err := u.rdb.GetSet(ctx, req.Lock, u.currentTimeMillis()+expire).Int64()
	if err != nil { // null, too: parseLong throws
		return false, fmt.Errorf("published: GETSET: %w", err)
	}
	if err := u.env.Step(ctx, "after-getset", req); err != nil {
		return false, err
	}
	return current == old, nil
}

func (u *lockUtil2) Release(ctx context.Context, req lb.Request) error {
	old, err := u.get(ctx, req, "unlock-get")
	if err != nil {
		return err
	}
	if old > u.currentTimeMillis() {
		return u.lockUtil.Release(ctx, req)
	}
	return lb.ErrLost // by its time, the lock has freed itself
}
