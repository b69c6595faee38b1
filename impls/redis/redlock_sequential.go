package redis

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// RedlockSequential is [Redlock] with the nodes asked one after the other, as the steps of its
// specification say, each with a twentieth of the lease to answer, at least 100 ms, which a busy machine
// needs, and at most half a second (its example has 5 to 50 ms of 10 s). A cycle takes the round trips of all nodes, and a try
// waits for each node that is silent. Source: redis.io,
// "Distributed Locks with Redis", the Redlock algorithm, step 2.
func RedlockSequential() lb.Impl {
	a := redlockOn("redis-5", "redlock-sequential",
		"redlock, where the nodes are asked one after the other, each with a short time to answer", lb.Broken)
	a.info.Expect = compose.Except(a.info.Expect, seldomTwice("each asks its nodes one after the other, and takes as long for its try"))
	a.open = func(s session) lb.Client { return redlock{session: s} }
	return a
}

// seldomTwice is what an empty node does to a lock of which the next holder may come too late to vote with it.
func seldomTwice(since string) lb.Expectation {
	return lb.Expectation{Fault: "cut-two+restart-empty", Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Reason: lb.DoubleGrant,
		Why: "a node that comes back empty votes twice; whether somebody else collects a majority with it while the holder works is chance, since " + since, Source: compose.Recovery}
}
