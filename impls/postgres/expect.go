package postgres

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// manual is what the documentation says of what the algorithms rest on.
var manual = compose.PostgreSQL

// connected is what a lock is good for that ends with a connection. A server that is shut down is back within a
// third of a second, and so is its holder, let go as the server answers.
func connected() []lb.Expectation {
	return compose.Except(manual.Connected(), lb.Expectation{
		Fault: "rolling-restart", Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe}, Source: manual.Locking,
		Why: "the server that is shut down closes its connections; whether the holder or somebody else is the first to come back is chance"})
}

func onDisk() []lb.Expectation {
	return compose.Except(manual.OnDisk(compose.FencedLease()),
		lb.Expectation{Fault: "server-clock", Outcomes: []lb.Outcome{lb.Fence, lb.Stuck}, Source: compose.Kleppmann,
			Why: "the server's wall clock ends the lease while the holder's own says that it lasts; and a grant of that time that nobody gives back lasts for as long as the clock was ahead"})
}

// pooled is what a lock is good for that one client takes on another's connection.
func pooled() []lb.Expectation {
	return []lb.Expectation{{Fault: "*", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
		Why: "the lock stays with the connection to the server, which the pooler gives to another client", Source: `PgBouncer documentation, "Features"`}}
}
