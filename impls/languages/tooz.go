package languages

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// ToozMySQL is tooz on MySQL: a lock of the server's that ends with a connection, of whose end nobody tells its holder.
func ToozMySQL() lb.Impl { return tooz("mysql", "python3-pymysql", mariadb) }

// ToozPostgreSQL is tooz on PostgreSQL, likewise.
func ToozPostgreSQL() lb.Impl {
	return tooz("postgresql", "python3-psycopg2", compose.Database{
		Locking:      `PostgreSQL manual, "Explicit Locking"`,
		Disk:         `PostgreSQL manual, "Reliability and the Write-Ahead Log"`,
		Replication:  `PostgreSQL manual, "Log-Shipping Standby Servers"`,
		Silent:       "two hours",
		Unreplicated: "advisory locks",
	})
}

func tooz(server, driver string, of compose.Database) lb.Impl {
	return adapter("tooz_lock.py "+server, "tooz_"+server+".json", "python3-tooz and "+driver, compose.Except(of.Connected(), compose.Forgotten()))
}

// ToozMemcached is tooz on memcached: a key that a heart renews, that bears the name of its member, and that its holder
// asks for before it writes.
func ToozMemcached() lb.Impl {
	const source = "tooz, drivers/memcached.py"
	either := func(why string, outcomes []lb.Outcome, faults ...string) []lb.Expectation {
		return compose.Under(lb.Expectation{Outcomes: outcomes, Why: why, Source: source}, faults...)
	}
	return adapter("tooz_lock.py memcached", "tooz_memcached.json", "python3-tooz and python3-pymemcache", compose.Except(compose.Lease(), slices.Concat(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Source: source,
			Why: "the heart of a holder that is frozen or cut off does not beat, and tooz gives no bound: by its answers the lock is still held when the next has it"},
			"pause-holder", "cut-holder", "pause@before-write"),
		either("nobody looks at the time that the answer took, and there is no bound: what arrives late is a lock that another may have",
			[]lb.Outcome{lb.Safe, lb.Check, lb.Broken}, "late-grant"),
		either("the heart renews the key twice in its time, which memcached counts in whole seconds; a holder that asks is told that it is gone",
			[]lb.Outcome{lb.Safe, lb.Check}, append(compose.ServerClocks(), "slow-work", "client-clock:drift")...),
		either("a release that is asked again deletes whatever its member holds by then, and until it is the heart renews what was not deleted",
			[]lb.Outcome{lb.Safe, lb.Check, lb.Broken, lb.Stuck}, "lose-reply", "reset-reply", "slow-reply", "cut-rejoin"),
		either("a server that keeps nothing on a disk comes back without the key; a holder that asks is told so, unless it has just asked",
			[]lb.Outcome{lb.Broken, lb.Check, lb.Safe}, "restart-server", "kill-server", "rolling-restart"),
		either("the server forgets the key; a holder that asks is told so, unless it has just asked",
			[]lb.Outcome{lb.Broken, lb.Check}, "flushall", "evict"),
		either("the lock is a key and not a connection", []lb.Outcome{lb.Safe}, compose.EndingConnections()...),
	)...))
}
