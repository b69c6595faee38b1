package languages

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// aKey is what a correct lease in Redis is good for, in a library that does not look at how
// long an answer took.
func aKey() []lb.Expectation {
	return compose.Except(compose.InRedis(compose.OnWallClock(compose.Lease())),
		compose.OverAtOnce("lost-grant"), compose.OverAtOnce("lose-reply"))
}

// RedisPy is redis.lock.Lock of redis-py. The library tells nobody until when the lock is good,
// but who calls acquire(blocking=False) knows when that was, and with which timeout.
// Before it writes it asks owned().
func RedisPy() lb.Impl {
	return adapter("redis_py.py", "redis_py.json", "python3-redis", compose.Except(aKey(), compose.OldYes("lose-reply"), compose.OldYes("slow-reply")))
}

// NodeRedis is the lock that users of node-redis write, since it has none.
func NodeRedis() lb.Impl {
	return adapter("node_redis.js", "node_redis.json", "node-redis", aKey())
}

// RedisCLI is the lock that stands in cron jobs: nobody knows when it ends, and its DEL looks
// at no owner.
func RedisCLI() lb.Impl {
	const source = "the script: no clock, and no owner in the DEL"
	safe := func(why string, faults ...string) []lb.Expectation {
		return compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe}, Why: why, Source: source}, faults...)
	}
	broken := func(why string, faults ...string) []lb.Expectation {
		return compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Why: why, Source: source}, faults...)
	}
	perhaps := func(why string, faults ...string) []lb.Expectation {
		return compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Why: why, Source: source}, faults...)
	}
	return adapter("redis_cli.sh", "redis_cli.json", "redis-tools", slices.Concat(
		safe("nobody works for as long as the key lasts", "none"),
		safe("the dead do not write, and the key ends", "kill-holder"),
		safe("the script reads no clock", "client-clock", "client-clock:back"),
		broken("the key ends under a holder that does not know when, and goes on",
			"pause-holder", "cut-holder", "pause@before-write", "slow-work", "server-clock", "server-clock:drift"),
		broken("the key is gone, and nobody tells its holder", "flushall", "evict", "restart-server", "restart-empty"),
		broken("the second DEL deletes the key of whoever has it by then", "release-twice"),
		perhaps("a client that does not know whether it has the key cleans up with a DEL, or gives back late, and that is perhaps the lock of another",
			"reset-grant", "lost-grant", "late-grant", "lose-reply", "cut-rejoin", "out-of-memory", "pause-client", "kill-session"),
		perhaps("a DEL that is sent again deletes the key of whoever has it by then", "reset-reply"),
	))
}
