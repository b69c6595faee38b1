package memcached

import (
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// minTTL is a lease after which, when it has lasted twice, its item is gone from the server, too.
const minTTL = 3 * time.Second

const (
	wiki     = `memcached wiki, "ProgrammingTricks"`
	protocol = "memcached, doc/protocol.txt"
	source   = "memcached.c, clock_handler"
)

// lease is what a lock is good for that is an item which its holder's clock ends before the server's does.
func lease() []lb.Expectation {
	emptied := func(fault string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
			Why: "a server that keeps nothing on a disk comes back without the item, if it was not given back by then", Source: protocol}
	}
	forgotten := func(fault, why string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Why: why, Source: protocol}
	}
	return compose.Except(monotonic(compose.Lease()), emptied("restart-server"), emptied("kill-server"),
		forgotten("flushall", "the server forgets the item, whose holder is not told"),
		forgotten("evict", "the server takes the item that was used least lately for one that is new, whoever still holds it"),
		lb.Expectation{Fault: "reconnect-storm", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the grant is an item and not a connection; its holder connects again", Source: protocol})
}

// serverClocks are the faults of the server's wall clock, each of which has a holder stand still until after its lease.
var serverClocks = []string{"server-clock", "server-clock:drift", "server-clock:back"}

// monotonic is what clocks do to a lease that the server ends by one that nobody can set.
func monotonic(base []lb.Expectation) []lb.Expectation {
	for _, fault := range serverClocks {
		base = compose.Except(base, lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "memcached counts seconds by the monotonic clock, and ends nothing too early while it runs; the holder that stands still meanwhile can see that its lease is over", Source: source})
	}
	return compose.Except(base, lb.Expectation{Fault: "client-clock:drift", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
		Why: "the holder measures its lease by a clock that is slow, and works on when the server has ended it", Source: compose.Kleppmann})
}

// anyDelete is what a release without a look at the owner costs.
func anyDelete() []lb.Expectation {
	all := compose.PlainDelete(lease(), "delete", wiki)
	for _, fault := range serverClocks {
		all = compose.Except(all, lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "no clock ends the lease too early while the server runs; but the holder stands still until it is over, and its late delete frees the lock of the next one", Source: source})
	}
	return all
}
