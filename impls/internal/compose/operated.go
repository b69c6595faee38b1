package compose

import (
	"slices"

	lb "github.com/lockbench/lockbench"
)

const (
	eviction    = `redis.io, "Key eviction"`
	persistence = `redis.io, "Redis persistence"`
)

// InRedis are the expectations of a lock whose grants are keys of a Redis server: whoever
// empties the server, or lets it evict, takes them from under their holders.
func InRedis(base []lb.Expectation) []lb.Expectation {
	worst := lb.Broken
	if fenced(base) { // the counter of tokens has no end
		worst = lb.Fence
	}
	return Except(base, append(slices.Concat(
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
			Why: "a server that has not got the grant on its disk comes back without it; whether that was one of several, or the grant was given back by then, is chance", Source: persistence}, endingServers()...),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe},
			Why: "the grant is a key and not a connection; its holder connects again", Source: ownClaim}, EndingConnections()...)),
		lb.Expectation{Fault: "flushall", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the server forgets the grant, and the counter of tokens with it", Source: `redis.io, "FLUSHALL"`},
		lb.Expectation{Fault: "evict", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "allkeys-lru may take any key, that of a lock and the counter of tokens among them", Source: eviction},
		lb.Expectation{Fault: "evict:volatile-ttl", Outcomes: []lb.Outcome{worst, lb.Check},
			Why: "volatile-ttl takes what ends soonest, which is the lock; who renews it may be told before somebody else is granted it", Source: eviction},
		lb.Expectation{Fault: "out-of-memory", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a grant that needs memory is refused, and one that is there stays: the outage is as long as the fault", Source: eviction},
		lb.Expectation{Fault: "snapshot", Outcomes: []lb.Outcome{lb.Safe}, Why: "a child process writes what the server knew; the server goes on", Source: persistence},
	)...)
}

// OnDisk are the expectations of a lock whose server has every grant on its disk before it confirms it.
func OnDisk(base []lb.Expectation) []lb.Expectation {
	return Except(base, Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check},
		Why: "the grant was on the disk before anybody was told of it, and the server comes back with it; who stands still until its lease is over can see that", Source: persistence}, endingServers()...)...)
}

// InCluster are the expectations of a lock in a Redis Cluster, whose masters log what they write, and of which each has a
// replica that takes its place.
func InCluster(base []lb.Expectation) []lb.Expectation {
	const specification = `redis.io, "Redis cluster specification", on write safety`
	return Except(base, append(slices.Concat(
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
			Why: "the replica that takes over may lack the last writes, while the old master perhaps goes on to grant until it has missed most masters for long enough", Source: specification},
			"kill-leader", "pause-leader", "cut-leader", "cut-halves", "deaf-leader", "failover"),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
			Why: "the server comes back with what it had logged, or later than its replica takes over, which may lack the last writes", Source: specification},
			append(endingServers(), "rolling-restart", "replace-member")...)),
		lb.Expectation{Fault: "failover-unreplicated", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the replica that takes over has never heard of the grant", Source: specification},
		lb.Expectation{Fault: "failover-by-command", Outcomes: []lb.Outcome{lb.Safe, lb.Check},
			Why: "the master stops until its replica has all that it had, and has taken over", Source: `redis.io, "CLUSTER FAILOVER"`})...)
}
