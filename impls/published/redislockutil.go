package published

import (
	"context"
	"errors"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
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
	late := lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check}, Source: listing,
		Why: "unlock1 of the late holder frees the lock of whoever has it by then: two hold it, if a third comes before that one is done; where it meets nobody, there is only the late write"}
	again := lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Stuck, lb.Safe}, Source: listing,
		Why: "unlock1 that is sent again, or arrives late, frees the lock of whoever has it by then; one that is not sent leaves a key without an expiry"}
	return onRedis{
		info: lb.Info{
			Name:       "published-002-redislockutil-lock",
			Doc:        "RedisLockUtil.lock: SETNX, then EXPIRE; unlock1: DEL",
			Source:     "listing 002, RedisLockUtil",
			Topologies: []string{"redis"},
			Requests:   []string{"setnx", "expire", "del"},
			Takes:      "setnx",
			Traits:     lb.Traits{Leased: true},
			Expect: compose.Except(compose.InRedis(compose.OnWallClock(compose.Lease())), append(slices.Concat(
				compose.Under(late, "pause-holder", "cut-holder", "slow-work"), compose.Under(again, compose.EndingConnections()...),
				compose.Under(again, "lost-grant", "late-grant", "lose-reply", "reset-grant", "reset-reply", "slow-reply", "cut-rejoin", "one-way-cut")),
				lb.Expectation{Fault: "release-twice", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
					Why: "the second unlock1 frees the lock of the one who has it by then", Source: listing},
				lb.Expectation{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Broken},
					Why: "late write and late unlock1", Source: listing},
				lb.Expectation{Fault: "kill@after-setnx", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
					Why: "the key has no expiry yet and nobody is left to delete it", Source: listing},
			)...),
		},
		open: func(env *lb.Env, rdb *redis.Client) lb.Client { return &lockUtil{env, rdb} },
	}
}

type lockUtil struct {
	env *lb.Env
	rdb *redis.Client
}

func (u *lockUtil) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return u.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		status, err := u.setNX(ctx, req, "1")
		if err != nil {
			return nil, redisconn.Refused(err)
		}
		if !status {
			return nil, lb.ErrHeld
		}
		call := u.env.Clock.Mono()
		if _, err := ask(ctx, u.env, req, "expire", func(ctx context.Context) (bool, error) {
			return u.rdb.Expire(ctx, req.Lock, time.Duration(seconds(u.env))*time.Second).Result()
		}); err != nil {
			return nil, err
		}
		return u.env.Grant(req, 0, u.env.Validity(call)), nil
	})
}

func (u *lockUtil) setNX(ctx context.Context, req lb.Request, value any) (bool, error) {
	return take(ctx, u.env, req, "setnx", func(ctx context.Context) (bool, error) {
		return u.rdb.SetNX(ctx, req.Lock, value, 0).Result()
	})
}

// Release is unlock1, which tells its caller nothing.
func (u *lockUtil) Release(ctx context.Context, req lb.Request) error {
	if _, err := ask(ctx, u.env, req, "del", func(ctx context.Context) (int64, error) {
		return u.rdb.Del(ctx, req.Lock).Result()
	}); err != nil {
		return err
	}
	return lb.ErrReleased
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
			Requests:   []string{"setnx", "get", "getset", "unlock-get", "del"},
			Reads:      []string{"get", "unlock-get"},
			Takes:      "setnx",
			Traits:     lb.Traits{Leased: true},
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
	return u.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
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
	status, err := u.setNX(ctx, req, u.currentTimeMillis()+expire)
	if err != nil || status {
		return status, lb.Unsent(err)
	}
	old, err := u.get(ctx, req, "get")
	if err != nil {
		return false, lb.NoEffect(err)
	}
	if old < u.currentTimeMillis() {
		return u.getSet(ctx, req, old, expire)
	}
	return false, nil
}

// get reads the time in the key, 0 where there is none.
func (u *lockUtil2) get(ctx context.Context, req lb.Request, name string) (int64, error) {
	return ask(ctx, u.env, req, name, func(ctx context.Context) (int64, error) {
		old, err := u.rdb.Get(ctx, req.Lock).Int64()
		if errors.Is(err, redis.Nil) {
			return 0, nil
		}
		return old, err
	})
}

func (u *lockUtil2) getSet(ctx context.Context, req lb.Request, old, expire int64) (bool, error) {
	taken, err := take(ctx, u.env, req, "getset", func(ctx context.Context) (bool, error) {
		//lint:ignore SA1019 the algorithm is made of SETNX, GET and GETSET
		current, err := u.rdb.GetSet(ctx, req.Lock, u.currentTimeMillis()+expire).Int64() // null, too, is an error: parseLong throws
		return current == old, err
	})
	return taken, lb.Unsent(err)
}

func (u *lockUtil2) Release(ctx context.Context, req lb.Request) error {
	old, err := u.get(ctx, req, "unlock-get")
	if err != nil {
		return err
	}
	if old > u.currentTimeMillis() {
		return u.lockUtil.Release(ctx, req)
	}
	return lb.ErrReleased // by its time, the lock has freed itself
}
