package consul

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// A leader that stood still and leads again may end sessions that were renewed since: docs/findings/consul-frozen-leader.md.
const docs = `Consul documentation, "Sessions and Distributed Locks"`

// health is why a server that is gone takes sessions with it.
const health = "what was granted is known to a majority, and so to every later leader, who begins all TTLs again; but a session is tied to the node of the server that made it, and ends when that is taken for dead"

// endingServers are the faults that take a server, or the one that leads, away for a while.
var endingServers = []string{"restart-server", "kill-server", "kill-leader", "cut-leader", "pause-leader", "deaf-leader", "cut-halves", "failover",
	"failover-by-command", "rolling-restart", "kill-two"}

// ending are the faults that end a session at the servers while somebody holds a lock in it.
var ending = []string{"expire", "expire-holder", "expire-all", "expire@before-write", "expire@*"}

// expect is that of a session without a lock-delay.
func expect() []lb.Expectation {
	return compose.Except(compose.OnSession(compose.OnMonotonicClock(compose.OnQuorum(compose.FencedLease()), "Consul")), slices.Concat(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Fence},
			Why: health + ", and the next is granted the lock before the holder asks for its renewal", Source: docs}, endingServers...),
		[]lb.Expectation{compose.KeptAlive(), deleted()})...)
}

// deleted is what becomes of a lock whose key is deleted.
func deleted() lb.Expectation {
	return lb.Expectation{Fault: "flushall", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
		Why: "the lock is advisory: whoever deletes its key frees it, and with the key begins its LockIndex again; the session goes on, so that nobody tells the holder", Source: docs}
}

// delayedExpect is that of one with Consul's own.
func delayedExpect() []lb.Expectation {
	const waits = "Consul waits for up to twice the TTL, and then for the lock-delay, until it grants the lock to somebody else: "
	// A grant that is gone before its lease is over is a promise that was broken, were there nobody else.
	const told = "the lock-delay is longer than it takes until the holder asks for its renewal and is told; until then it relies on a lock that is nobody's"
	return compose.Except(expect(), slices.Concat(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Fence},
			Why: health + "; " + told, Source: docs}, endingServers...),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Fence}, Why: told, Source: docs}, ending...),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check}, Reason: lb.Overstay,
			Why: waits + "a holder that is away for longer can see that its lease is over", Source: docs}, "pause-holder", "cut-holder"),
		[]lb.Expectation{{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Safe, lb.Fence}, Reason: lb.Overstay,
			Why: waits + "of one that is away for longer the store refuses the late write", Source: compose.Kleppmann}})...)
}
