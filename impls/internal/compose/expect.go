package compose

import lb "github.com/lockbench/lockbench"

// Kleppmann is the source of what fencing tokens are for.
const Kleppmann = `M. Kleppmann, "How to do distributed locking", 2016`

const ownClaim = "the algorithm's own claim"

// Lease is what every correct lease without a token is good for, whether it is
// renewed or not: its holder can know when it is over, and nobody else can.
func Lease() []lb.Expectation {
	return []lb.Expectation{
		{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}, Why: "nobody outlives the lease", Source: ownClaim},
		{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: "the dead do not write, and their lease ends", Source: ownClaim},
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "the frozen holder can see, after it wakes, that its lease is over", Source: Kleppmann},
		{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "the holder's own clock tells it that its lease is over", Source: Kleppmann},
		{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.Overstay,
			Why: "no look at the clock helps a holder that stops after it, and there is no token", Source: Kleppmann},
	}
}

// FencedLease is what a correct lease with a fencing token is good for.
func FencedLease() []lb.Expectation {
	return Except(Lease(), lb.Expectation{
		Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.Overstay,
		Why: "the store has seen a higher token and refuses the late write", Source: Kleppmann,
	})
}

// fenced reports whether the expectations are those of a lock with a token.
func fenced(base []lb.Expectation) bool {
	for _, e := range base {
		if e.Fault == "pause@before-write" {
			return len(e.Outcomes) > 0 && e.Outcomes[0] == lb.Fence
		}
	}
	return false
}

// OnWallClock are the expectations of a lease whose end the servers find by their
// wall clock: a clock that jumps or races ends it under its holder.
func OnWallClock(base []lb.Expectation) []lb.Expectation {
	worst := lb.Broken
	if fenced(base) {
		worst = lb.Fence
	}
	var more []lb.Expectation
	for _, fault := range []string{"server-clock", "server-clock:drift"} {
		more = append(more, lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{worst}, Reason: lb.DoubleGrant,
			Why: "the server's wall clock ends the lease while the holder's own says that it lasts", Source: Kleppmann})
	}
	return Except(base, more...)
}

// RenewedOnWallClock is [OnWallClock] for a lease that is renewed: the next renewal
// tells the holder, perhaps before anybody else is granted the lock.
func RenewedOnWallClock(base []lb.Expectation) []lb.Expectation {
	all := OnWallClock(base)
	for i := range all {
		if all[i].Fault == "server-clock" || all[i].Fault == "server-clock:drift" {
			all[i].Outcomes, all[i].Reason = append(all[i].Outcomes, lb.Check), ""
		}
	}
	return all
}

// OnMonotonicClock are the expectations of a lease that the servers time by a clock
// that nobody can set: they are immune by design.
func OnMonotonicClock(base []lb.Expectation, server string) []lb.Expectation {
	var more []lb.Expectation
	for _, fault := range []string{"server-clock", "server-clock:drift"} {
		more = append(more, lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe},
			Why: "immune by design: " + server + " times leases by the monotonic clock, whatever the wall clock says", Source: server + " documentation"})
	}
	return Except(base, more...)
}

// OnQuorum are the expectations of a lock service whose servers agree by majority:
// a new leader knows every grant of the old one.
func OnQuorum(base []lb.Expectation) []lb.Expectation {
	var more []lb.Expectation
	for _, fault := range []string{"kill-leader", "cut-leader", "pause-leader", "cut-halves", "failover"} {
		more = append(more, lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe, lb.Check},
			Why: "what was granted is known to a majority, and so to every later leader", Source: "the protocols of ZooKeeper (Zab) and etcd (Raft)"})
	}
	return Except(base, more...)
}

// OnReplica are the expectations of a lock on one server with asynchronous replicas:
// what was granted and not yet replicated is forgotten when one of them takes over.
func OnReplica(base []lb.Expectation) []lb.Expectation {
	return Except(base, lb.Expectation{Fault: "failover-unreplicated", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
		Why: "the replica that takes over has never heard of the grant, nor of its token", Source: "redis.io, \"Distributed Locks with Redis\", on failover"})
}

// Except returns the expectations with some replaced, by fault, or added.
func Except(base []lb.Expectation, others ...lb.Expectation) []lb.Expectation {
	var all []lb.Expectation
	replaced := map[string]bool{}
	for _, e := range others {
		replaced[e.Fault] = true
	}
	for _, e := range base {
		if !replaced[e.Fault] {
			all = append(all, e)
		}
	}
	return append(all, others...)
}
