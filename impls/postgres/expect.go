package postgres

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// manual is what the documentation says of what the algorithms rest on.
var manual = compose.Database{
	Locking:      `PostgreSQL manual, "Explicit Locking"`,
	Disk:         `PostgreSQL manual, "Reliability and the Write-Ahead Log"`,
	Replication:  `PostgreSQL manual, "Log-Shipping Standby Servers"`,
	Silent:       "two hours",
	Unreplicated: "row locks and advisory locks",
}

func connected() []lb.Expectation { return manual.Connected() }

func onDisk() []lb.Expectation {
	return manual.OnDisk(compose.Except(compose.OnWallClock(compose.FencedLease()), manual.NotTied()...))
}

// pooled is what a lock is good for that one client takes on another's connection.
func pooled() []lb.Expectation {
	return []lb.Expectation{{Fault: "*", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
		Why: "the lock stays with the connection to the server, which the pooler gives to another client", Source: `PgBouncer documentation, "Features"`}}
}
