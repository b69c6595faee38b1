// Package compose makes the expectations of a lock of those of its kind.
package compose

import (
	"slices"

	lb "github.com/lockbench/lockbench"
)

// Kleppmann is the source of what fencing tokens are for.
const Kleppmann = `M. Kleppmann, "How to do distributed locking", 2016`

const ownClaim = "the algorithm's own claim"

// Lease is what every correct lease without a token is good for, whether it is
// renewed or not: its holder can know when it is over, and nobody else can.
func Lease() []lb.Expectation {
	return append([]lb.Expectation{
		{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}, Why: "nobody outlives the lease", Source: ownClaim},
		{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: "the dead do not write, and their lease ends", Source: ownClaim},
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "the frozen holder can see, after it wakes, that its lease is over", Source: Kleppmann},
		{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "the holder's own clock tells it that its lease is over", Source: Kleppmann},
		{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.Overstay,
			Why: "no look at the clock helps a holder that stops after it, and there is no token", Source: Kleppmann},
		{Fault: "slow-work", Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "nobody renews the lease, and whoever works for longer can see that it is over", Source: Kleppmann},
		{Fault: "lost-grant", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a grant of which nobody has heard is taken back by its owner value, or ends with its lease", Source: ownClaim},
		{Fault: "late-grant", Outcomes: []lb.Outcome{lb.Safe, lb.Check},
			Why: "a lease counts from the request: the late answer brings one that is over, which who looks can see", Source: ownClaim},
		{Fault: "lose-reply", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a release that is sent again frees nothing but its own", Source: ownClaim},
		{Fault: "reset-grant", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a grant of which nobody has heard is taken back by its owner value, or ends with its lease", Source: ownClaim},
		{Fault: "reset-reply", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a release that is sent again frees nothing but its own", Source: ownClaim},
		{Fault: "slow-reply", Outcomes: []lb.Outcome{lb.Safe, lb.Check},
			Why: "what is asked again while the answer is late frees nothing but its own", Source: ownClaim},
		{Fault: "cut-rejoin", Outcomes: []lb.Outcome{lb.Safe, lb.Check},
			Why: "what was sent before the cut and arrives after it frees nothing but its own", Source: ownClaim},
		{Fault: "release-twice", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a release that comes again frees nothing but its own", Source: ownClaim},
		{Fault: "restart-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "whoever the new process is for the lock, the dead one writes no more", Source: ownClaim},
		{Fault: "twin-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "each acquisition is an owner of its own, whoever makes it", Source: ownClaim},
		{Fault: "shared-session", Outcomes: []lb.Outcome{lb.Safe},
			Why: "each acquisition is an owner of its own, whose session it may be", Source: ownClaim},
		{Fault: "soak", Outcomes: []lb.Outcome{lb.Safe, lb.Check},
			Why: "it is made of what the lock bears one by one", Source: ownClaim},
		Forgotten(),
	}, untouched()...)
}

// untouched is what does nothing to any lock that asks no client's wall clock.
func untouched() []lb.Expectation {
	return []lb.Expectation{asleep(), ByNoWallClock("client-clock"), ByNoWallClock("client-clock:back")}
}

// Under is the same expectation under each of the faults.
func Under(e lb.Expectation, faults ...string) (all []lb.Expectation) {
	for _, e.Fault = range faults {
		all = append(all, e)
	}
	return all
}

// EndingConnections are the faults that end a holder's connection, but not the holder.
func EndingConnections() []string { return []string{"kill-session", "idle-holder", "reconnect-storm"} }

// ServerClocks are the faults that move the clock of a server.
func ServerClocks() []string {
	return []string{"server-clock", "server-clock:drift", "server-clock:back"}
}

// endingServers are the faults that end a server, which is back before long.
func endingServers() []string { return []string{"restart-server", "kill-server"} }

// asleep is what it does to any lock that somebody stands still who is about to ask for it: nothing.
func asleep() lb.Expectation {
	return lb.Expectation{Fault: "pause-client", Outcomes: []lb.Outcome{lb.Safe},
		Why: "who stands still before it asks holds nothing, and asks when it goes on", Source: ownClaim}
}

// ByNoWallClock is what the wall clock of another client's host does to a lock that asks no client's.
func ByNoWallClock(fault string) lb.Expectation {
	return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe},
		Why: "no client measures by its wall clock, and none tells the server what it shows", Source: ownClaim}
}

// Forgotten is what becomes of any lock on one server whose disk is emptied.
func Forgotten() lb.Expectation {
	return lb.Expectation{Fault: "restart-empty", Outcomes: []lb.Outcome{lb.Broken, lb.Fence, lb.Check, lb.Safe},
		Why: "the server comes back without the grant, and without its tokens; whether the holder hears of it before somebody else is granted the lock is chance", Source: ownClaim}
}

// divided is what a network that parts in two does to a lock that is on one side only.
func divided(why string) lb.Expectation {
	return lb.Expectation{Fault: "cut-halves", Outcomes: []lb.Outcome{lb.Safe, lb.Check}, Why: why, Source: ownClaim}
}

// KeptAlive is what a slow clock of its client does to a session that is kept alive by pings.
func KeptAlive() lb.Expectation {
	return lb.Expectation{Fault: "client-clock:drift", Outcomes: []lb.Outcome{lb.Safe, lb.Check},
		Why: "a session is kept alive three times in its length, which is enough also at half the speed", Source: ownClaim}
}

// OverAtOnce is what a library does with a late answer that does not look at the time.
func OverAtOnce(fault string) lb.Expectation {
	return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe, lb.Check},
		Why: "nobody looks at the time that the answer took: what TCP delivers after the fault is a lease that is over, which who looks can see", Source: "the library's code"}
}

// OldYes is what comes of asking a server, before a write, whether the lock is still held: its yes may be
// old when it arrives, and nothing says so.
func OldYes(fault string) lb.Expectation {
	return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe}, Reason: lb.Overstay,
		Why: "who asks a server whether it still holds the lock may be answered when the lease is over", Source: "the library's code"}
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
	return Except(base, append(Under(lb.Expectation{Outcomes: []lb.Outcome{worst}, Reason: lb.DoubleGrant,
		Why: "the server's wall clock ends the lease while the holder's own says that it lasts", Source: Kleppmann}, "server-clock", "server-clock:drift"),
		lb.Expectation{Fault: "client-clock:drift", Outcomes: []lb.Outcome{worst}, Reason: lb.DoubleGrant,
			Why: "the holder measures its lease by a clock that is slow, and works on when the server has ended it", Source: Kleppmann},
		lb.Expectation{Fault: "server-clock:back", Outcomes: []lb.Outcome{worst, lb.Check, lb.Safe},
			Why: "a lease that was granted meanwhile ends at once when the clock is put right: whether somebody holds the lock by then is chance", Source: Kleppmann})...)
}

// RenewedOnWallClock is [OnWallClock] for a lease that is renewed: the next renewal
// tells the holder, perhaps before anybody else is granted the lock.
func RenewedOnWallClock(base []lb.Expectation) []lb.Expectation {
	all := OnWallClock(base)
	for i := range all {
		switch all[i].Fault {
		case "server-clock", "server-clock:drift":
			all[i].Outcomes, all[i].Reason = append(all[i].Outcomes, lb.Check), ""
		case "client-clock:drift":
			all[i].Outcomes, all[i].Reason = []lb.Outcome{lb.Safe}, ""
			all[i].Why = "it is renewed in time also at half the speed: three times in a lease by the holder's clock"
		}
	}
	return Except(all, worksOn())
}

// worksOn is what a lock is good for that lasts as long as its holder's process wants it to.
func worksOn() lb.Expectation {
	return lb.Expectation{Fault: "slow-work", Outcomes: []lb.Outcome{lb.Safe},
		Why: "the lock is kept for as long as its holder's process runs, however long the work takes", Source: ownClaim}
}

// OnMonotonicClock are the expectations of a lease that the servers time by a clock
// that nobody can set: they are immune by design.
func OnMonotonicClock(base []lb.Expectation, server string) []lb.Expectation {
	return Except(base, Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe},
		Why: "immune by design: " + server + " times leases by the monotonic clock, whatever the wall clock says", Source: server + " documentation"}, ServerClocks()...)...)
}

// OnQuorum are the expectations of a lock service whose servers agree by majority:
// a new leader knows every grant of the old one.
func OnQuorum(base []lb.Expectation) []lb.Expectation {
	return Except(onQuorum(base, lb.Check, "what was granted is known to a majority, and so to every later leader"),
		lb.Expectation{Fault: "reconnect-storm", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a session outlives its connection: its client goes on with it on another", Source: "ZooKeeper Programmer's Guide, etcd documentation"})
}

// Untold are the expectations of a lock in ZooKeeper that tells its holder nothing when its session ends, beside
// its own.
func Untold(own ...lb.Expectation) []lb.Expectation {
	base := OnMonotonicClock(slices.Concat(untouched(), []lb.Expectation{worksOn(), Forgotten()}, own), "ZooKeeper")
	return onQuorum(base, lb.Broken, "what was granted is known to a majority, and so to every later leader; but where a session ends before its client is connected again, nobody tells the holder")
}

func onQuorum(base []lb.Expectation, worst lb.Outcome, why string) []lb.Expectation {
	return Except(base, Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, worst}, Why: why, Source: "the protocols of ZooKeeper (Zab) and etcd (Raft)"},
		"restart-server", "kill-server", "kill-leader", "cut-leader", "pause-leader", "deaf-leader", "cut-halves", "failover", "failover-by-command", "rolling-restart", "replace-member", "kill-two")...)
}

// OnReplica are the expectations of a lock on one server with asynchronous replicas:
// what was granted and not yet replicated is forgotten when one of them takes over.
func OnReplica(base []lb.Expectation) []lb.Expectation {
	const sentinel = `redis.io, "High availability with Redis Sentinel"`
	return Except(base, append(Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
		Why: "another is promoted, which may lack the last writes, while the old master perhaps goes on to grant", Source: sentinel},
		"kill-leader", "pause-leader", "cut-leader", "cut-halves", "deaf-leader", "failover"),
		lb.Expectation{Fault: "failover-unreplicated", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the replica that takes over has never heard of the grant, nor of its token", Source: "redis.io, \"Distributed Locks with Redis\", on failover"})...)
}

// OnSession are the expectations of a lock that ends with a session, which the server can
// end: who waits is no holder, and a holder is told only when somebody else may hold it.
func OnSession(base []lb.Expectation) []lb.Expectation {
	worst := lb.Broken
	if fenced(base) {
		worst = lb.Fence
	}
	return Except(base, append(Under(lb.Expectation{Outcomes: []lb.Outcome{worst, lb.Check},
		Why: "the next in line is granted the lock at once, perhaps before the holder is told that its session has ended", Source: ownClaim},
		"expire", "expire-holder", "expire@before-write"), worksOn(),
		lb.Expectation{Fault: "expire-waiter", Outcomes: []lb.Outcome{lb.Safe},
			Why: "who waits looks, before it takes the lock, whether its place in line is still there", Source: ownClaim},
		lb.Expectation{Fault: "expire-line", Outcomes: []lb.Outcome{lb.Safe},
			Why: "who waits is told that its session is over, and asks again", Source: ownClaim},
		lb.Expectation{Fault: "expire-all", Outcomes: []lb.Outcome{worst, lb.Check, lb.Safe},
			Why: "nobody is granted the lock before it has another session, by when the holder may have been told", Source: ownClaim},
		// Of the steps, those of a holder are the ones at which somebody can be hurt, and which those are
		// each lock knows for itself; whoever stands at another is told before it is granted anything.
		lb.Expectation{Fault: "expire@*", Outcomes: []lb.Outcome{worst, lb.Check, lb.Safe},
			Why: "a client whose session ends before it holds the lock looks whether its place is still there; a holder may learn of it after the next in line was granted the lock", Source: ownClaim})...)
}

// Recovery is the source of what servers that have forgotten their votes do to Redlock.
const Recovery = `redis.io, "Distributed Locks with Redis", on crash recovery`

// OnMasters are the expectations of a lease that a majority of independent Redis servers grants, each of which
// may come back empty.
func OnMasters(base []lb.Expectation) []lb.Expectation {
	return Except(InRedis(base), divided("the smaller side has no majority, and grants nothing"),
		lb.Expectation{Fault: "kill-two", Outcomes: []lb.Outcome{lb.Safe}, Why: "three of five are a majority", Source: Recovery},
		lb.Expectation{Fault: "rolling-restart", Outcomes: []lb.Outcome{lb.Broken, lb.Safe},
			Why: "who has a bare majority loses it with one node that comes back empty; who has more does not", Source: Recovery})
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
