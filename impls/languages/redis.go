package languages

import (
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
	broken := func(fault, why string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Why: why, Source: source}
	}
	const ends = "the key ends under a holder that does not know when, and goes on"
	const gone = "the key is gone, and nobody tells its holder"
	unsure := func(faults ...string) (all []lb.Expectation) {
		for _, fault := range faults {
			all = append(all, lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Source: source,
				Why: "a client that does not know whether it has the key cleans up with a DEL, or gives back late, and that is perhaps the lock of another"})
		}
		return all
	}
	return adapter("redis_cli.sh", "redis_cli.json", "redis-tools", append(
		unsure("reset-grant", "lost-grant", "late-grant", "lose-reply", "cut-rejoin", "out-of-memory", "pause-client", "kill-session"),
		lb.Expectation{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}, Why: "nobody works for as long as the key lasts", Source: source},
		lb.Expectation{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: "the dead do not write, and the key ends", Source: source},
		lb.Expectation{Fault: "client-clock", Outcomes: []lb.Outcome{lb.Safe}, Why: "the script reads no clock", Source: source},
		lb.Expectation{Fault: "client-clock:back", Outcomes: []lb.Outcome{lb.Safe}, Why: "the script reads no clock", Source: source},
		broken("pause-holder", ends), broken("cut-holder", ends), broken("pause@before-write", ends), broken("slow-work", ends),
		broken("server-clock", ends), broken("server-clock:drift", ends),
		broken("flushall", gone), broken("evict", gone), broken("restart-server", gone), broken("restart-empty", gone),
		broken("release-twice", "the second DEL deletes the key of whoever has it by then"),
		lb.Expectation{Fault: "reset-reply", Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Why: "a DEL that is sent again deletes the key of whoever has it by then", Source: source},
	))
}
