package languages

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// aNode is what a lock is good for that ends with a session, has no bound that its holder could
// look at, no token, and tells its holder so late that the session has ended.
func aNode(late, source string) []lb.Expectation {
	return compose.Except(compose.OnSession(compose.OnMonotonicClock(compose.OnQuorum(compose.Lease()), "ZooKeeper")), append(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Why: late, Source: source}, "pause-holder", "cut-holder", "pause@before-write"),
		lb.Expectation{Fault: "soak", Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe}, Why: "pauses and cuts are among its faults", Source: source})...)
}

func kazoo(command, described string) lb.Impl {
	return adapter(command, described, "python3-kazoo", aNode(
		"kazoo says LOST when a server tells it, which is after the pause or the cut; it gives no bound, and the next has the lock by then",
		"kazoo, protocol/connection.py"))
}

// Kazoo is kazoo's Lock.
func Kazoo() lb.Impl { return kazoo("kazoo_lock.py", "kazoo_lock.json") }

// KazooRW are kazoo's ReadLock and WriteLock.
func KazooRW() lb.Impl { return kazoo("kazoo_lock.py rw", "kazoo_rw.json") }

// KazooSemaphore is kazoo's Semaphore of one lease.
func KazooSemaphore() lb.Impl { return kazoo("kazoo_lock.py semaphore", "kazoo_semaphore.json") }

// curator needs a compiler for its adapter.
func curator(command, described string, more ...lb.Expectation) lb.Impl {
	return adapter(command, described, "libcurator-recipes-java and default-jdk-headless", compose.Except(aNode(
		"Curator says LOST one session timeout after it has noticed that its connection is gone, which takes two thirds of one: by then the server has ended the session",
		"Curator, ConnectionStateManager; its documentation of LOST"), append(more, divided())...))
}

// divided is what a partition that outlasts sessions does now and then, with Curator's new session in the place of the old.
func divided() lb.Expectation {
	return lb.Expectation{Fault: "cut-halves", Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Broken, lb.Stuck},
		Why:    "who asked before may be granted the lock by its node of the session before, which the servers are about to remove; and once it was seen that of those who waited nobody was told any more",
		Source: "Curator's issue CURATOR-604; runs of lockbench (docs/findings)"}
}

// byThread is what comes of a lock that its holder may enter again, where the holder is a thread.
func byThread() lb.Expectation {
	return lb.Expectation{Fault: "shared-session", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
		Why: "who asks on the holder's thread is the holder, who may enter again: those who have their work done by one thread have one lock", Source: "Curator's javadoc of InterProcessMutex"}
}

// Curator is Apache Curator's InterProcessMutex.
func Curator() lb.Impl { return curator("curator.sh", "curator_mutex.json", byThread()) }

// CuratorRW is its InterProcessReadWriteLock.
func CuratorRW() lb.Impl { return curator("curator.sh rw", "curator_rw.json", byThread()) }

// CuratorSemaphore is its InterProcessSemaphoreMutex.
func CuratorSemaphore() lb.Impl {
	return curator("curator.sh semaphore", "curator_semaphore.json", waitsForAWaiter("late-grant", lb.Check), waitsForAWaiter("reset-grant"))
}

// waitsForAWaiter is what comes of a lease that Curator makes again in a new session, without the mutex of the old one.
func waitsForAWaiter(fault string, others ...lb.Outcome) lb.Expectation {
	return lb.Expectation{Fault: fault, Outcomes: append([]lb.Outcome{lb.Safe, lb.Stuck}, others...),
		Why:    "a client whose session ended when it asked for its lease makes it again without the mutex, and then it and the next in line wait for each other",
		Source: "docs/findings/curator-semaphore-waiters.md"}
}
