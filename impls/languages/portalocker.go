package languages

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// Portalocker is portalocker's RedisLock: a subscription, and no key. It ends with a connection.
func Portalocker() lb.Impl {
	const source = "portalocker 2.2.1, redis.py; issue 139 of wolph/portalocker"
	perhaps := func(why string, faults ...string) []lb.Expectation {
		return compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe}, Why: why, Source: source}, faults...)
	}
	return adapter("portalocker_redis.py", "portalocker_redis.json", "python3-portalocker and python3-redis", slices.Concat(
		[]lb.Expectation{{Fault: "*", Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Reason: lb.DoubleGrant, Source: source,
			Why: "SUBSCRIBE and PUBSUB NUMSUB go by two connections: where they arrive in the other order, a client counts another's subscription as its own"}},
		perhaps("the subscription ends with its connection; whether the holder hears of it before somebody else subscribes is chance",
			append(compose.EndingConnections(), "restart-server", "kill-server", "restart-empty", "rolling-restart", "reset-reply")...)))
}
