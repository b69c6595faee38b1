package mysql

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// endless is what a lock without an end of its own is good for: while its holder
// lives nobody else gets it, however long that takes.
func endless() []lb.Expectation {
	const (
		claim = "the algorithm's own claim"
		price = "nobody else can have the lock meanwhile: the outage is as long as the fault"
	)
	return []lb.Expectation{
		{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}, Why: "one row, one owner", Source: claim},
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: price, Source: claim},
		{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: price, Source: claim},
		{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Safe}, Why: price, Source: claim},
	}
}

// connected is what a lock is good for that the server ties to a connection.
func connected() []lb.Expectation {
	const manual = `MySQL manual, "InnoDB Locking" and "Locking Functions"`
	return compose.Except(endless(),
		lb.Expectation{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the kernel of the dead closes its connection, and the server frees its lock at once", Source: manual},
		lb.Expectation{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a frozen process keeps its connection, and so its lock: the outage is as long as the fault", Source: manual},
		lb.Expectation{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the server keeps a silent connection for 8 hours, and so its lock: the outage is as long as the fault", Source: manual},
		lb.Expectation{Fault: "failover", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "row locks and GET_LOCK are not replicated: who is promoted knows of none", Source: manual},
	)
}
