package kubernetes

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// What a holder that is late does to its successor: docs/findings/kubernetes-release.md.
const (
	steals = "its release reads the Lease and writes that nobody holds it, whoever does by then"
	late   = "the context of a holder that could not renew ends only after the library has tried to give the lock back, which a silent server can draw out past the lease"
)

// expect is that of a lease whose holder is told by a library, perhaps late, and gives back what may be another's.
func expect() []lb.Expectation {
	const (
		code = source + ", leaderelection.go"
		doc  = source + ", package documentation"
		kept = "etcd has it on a majority of disks, and each write has the version of the Lease that it was for"
	)
	broken := []lb.Outcome{lb.Broken, lb.Check}
	chance := []lb.Outcome{lb.Broken, lb.Check, lb.Safe}
	return compose.Except(compose.Lease(), slices.Concat(
		compose.Under(lb.Expectation{Outcomes: broken, Why: "a frozen holder that wakes has not been told yet, and " + steals, Source: code}, "pause-holder"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Why: "there is no token, and " + steals, Source: doc}, "pause@before-write"),
		compose.Under(lb.Expectation{Outcomes: broken, Why: late, Source: code}, "cut-holder"),
		compose.Under(lb.Expectation{Outcomes: chance, Why: late + "; and " + steals, Source: code}, "cut-rejoin", "soak"),
		compose.Under(lb.Expectation{Outcomes: chance, Why: "who asks a server that is silent hears nothing for a second, and of three it is one by chance; " + late, Source: code},
			"cut-leader", "pause-leader", "deaf-leader", "cut-halves", "failover"),
		compose.Under(lb.Expectation{Outcomes: chance, Why: "while etcd elects, the other servers are silent, too; " + late, Source: code},
			"kill-leader", "failover-by-command", "rolling-restart", "replace-member", "kill-two"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check}, Why: kept + "; nobody is granted the lock while the server is away, and its holder is told that it could not renew", Source: code},
			"restart-server", "kill-server"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe}, Why: kept + ", so that one that arrives late does nothing", Source: code},
			"lost-grant", "reset-grant", "lose-reply", "reset-reply", "reconnect-storm"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check}, Why: kept + "; a late answer is given up after a second, and what it granted is the client's own when it looks again", Source: code},
			"late-grant", "slow-reply"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe}, Why: "the lease is renewed for as long as its holder's process runs, however long the work takes", Source: code}, "slow-work"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe}, Why: "the Lease has the times of wall clocks, at which nobody looks: each client measures by its own monotonic clock for how long it has seen no change", Source: doc},
			"client-clock", "client-clock:back"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe}, Why: "it is renewed seven times in a lease, which is enough also at half the speed", Source: doc}, "client-clock:drift"),
		compose.Under(lb.Expectation{Outcomes: broken, Why: "whoever looks next makes the Lease again, and a holder that can't renew any more goes on until RenewDeadline", Source: code}, "flushall"),
	)...)
}
