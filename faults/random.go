package faults

// random strikes again and again, each time with one of the faults that can strike
// in the setting, as the run's seed has it: for soaking with a long --duration.
//
// It draws from all but those
//   - that kill clients for good, since nobody would be left;
//   - after which the servers are not what they were: restart-empty, flushall and evict forget
//     the counter of fencing tokens, and a store that has seen higher ones refuses whatever
//     comes then; a Redis that has written a snapshot comes back with the grants in it; a
//     primary that was replaced by the bench is no replica of the new one, and
//     replace-member leaves another ensemble than the plan's;
//   - that want the whole run to be another: leases longer than those of the others
//     (idle-holder), clocks that are wrong from the start, disks that everybody waits for
//     (disk-stall).
func random() Fault {
	return Fault{Name: "random", Family: Clients, Repeats: true, MinTTL: promotionTTL, Prefers: AnEnsemble,
		Doc: "one fault after the other, or several at once, drawn by the seed, until the end of the run",
		Mix: []Fault{
			pauseHolder(), pauseClient(), at(pause(), beforeWrite),
			releaseTwice(), cutHolder(), oneWayCut(), cutRejoin(), cutHalves(), flappingLink(), lossyLink(), reconnectStorm(),
			lostGrant(), lateGrant(), loseReply(), slowReply(), resetGrant(), resetReply(),
			clientAhead(), clientBehind(), clientFast(), clientDrift(), serverAhead(), serverBehind(), serverDrift(),
			cutLeader(), deafLeader(), killLeader(), pauseLeader(), slowServer(), killTwo(), restartServer(), killServer(), rollingRestart(),
			elected(failover()), elected(failoverUnreplicated()), elected(failoverByCommand()),
			cutTwoRestartEmpty(), cutTwoServerClock(),
			expireHolder(), expireWaiter(), expireAll(), killSession(),
			evictTTL(), outOfMemory(), scriptFlush(), schemaChange(), sentinelReset(), compact(), noSpace(), defrag(), diskFull(),
		}}
}

// soak is [random] without what the algorithm is known to break under: whatever goes wrong in
// it is news.
func soak() Fault {
	f := random()
	f.Name, f.Borne = "soak", true
	f.Doc = "random, but only those faults under which the algorithm is not declared to be worse than CHECK"
	return f
}

// elected strikes only where the servers find their new leader by themselves.
func elected(f Fault) Fault {
	f.Needs = append(f.Needs, AnElection)
	return f
}
