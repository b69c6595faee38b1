package compose

import (
	"slices"

	lb "github.com/lockbench/lockbench"
)

// Database is what the documentation of an SQL database says that expectations rest on.
type Database struct {
	// Locking, Disk and Replication are where its manual writes of locks that end with a connection, of what is on
	// the disk, and of replicas.
	Locking, Disk, Replication string
	// Silent is for how long it keeps a connection that has fallen silent: "8 hours".
	Silent string
	// Unreplicated are the locks that its replicas know nothing of.
	Unreplicated string
}

// PostgreSQL is what its manual says.
var PostgreSQL = Database{
	Locking:      `PostgreSQL manual, "Explicit Locking"`,
	Disk:         `PostgreSQL manual, "Reliability and the Write-Ahead Log"`,
	Replication:  `PostgreSQL manual, "Log-Shipping Standby Servers"`,
	Silent:       "two hours",
	Unreplicated: "row locks and advisory locks",
}

// Endless is what a lock without an end of its own is good for: while its holder
// lives nobody else gets it, however long that takes.
func (d Database) Endless() []lb.Expectation {
	const (
		claim = ownClaim
		price = "nobody else can have the lock meanwhile: the outage is as long as the fault"
	)
	return append([]lb.Expectation{
		{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}, Why: "one lock, one owner", Source: claim},
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: price, Source: claim},
		{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: price, Source: claim},
		{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Safe}, Why: price, Source: claim},
		{Fault: "slow-work", Outcomes: []lb.Outcome{lb.Safe}, Why: price, Source: claim},
		{Fault: "lose-reply", Outcomes: []lb.Outcome{lb.Safe}, Why: "a release that is sent again frees nothing but its own", Source: claim},
		{Fault: "reset-reply", Outcomes: []lb.Outcome{lb.Safe}, Why: "a release that is sent again frees nothing but its own", Source: claim},
		{Fault: "slow-reply", Outcomes: []lb.Outcome{lb.Safe}, Why: "a release that is sent again frees nothing but its own", Source: claim},
		{Fault: "release-twice", Outcomes: []lb.Outcome{lb.Safe}, Why: "a release that comes again frees nothing but its own", Source: claim},
		{Fault: "twin-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: "the lock is a row's or a connection's, and neither bears the client's name", Source: claim},
		{Fault: "shared-session", Outcomes: []lb.Outcome{lb.Safe}, Why: "each acquisition has a row, or a connection, of its own", Source: claim},
		{Fault: "soak", Outcomes: []lb.Outcome{lb.Safe, lb.Check}, Why: "it is made of what the lock bears one by one", Source: claim},
		forgotten(),
	}, slices.Concat(untouched(), notTied(), d.onPrimary(), Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe},
		Why: "no time ends the lock, whatever the server's clock shows", Source: claim}, ServerClocks()...))...)
}

// forgotten is what becomes of a lock in a table when the server's disk is emptied: the table is gone, too,
// until some client opens another session.
func forgotten() lb.Expectation {
	e := Forgotten()
	e.Outcomes = append(e.Outcomes, lb.Stuck)
	e.Why = "the server comes back without the grant, its tokens and the table, which a client makes when it opens another session; whether one does, and whether the holder hears of it before somebody else is granted the lock, is chance"
	return e
}

// onPrimary is what a primary with asynchronous replicas does to any lock.
func (d Database) onPrimary() []lb.Expectation {
	manual := d.Replication
	return []lb.Expectation{
		divided("the lock is on the primary alone: who is cut off from it is granted nothing"),
		{Fault: "failover", Outcomes: []lb.Outcome{lb.Broken, lb.Fence, lb.Check, lb.Safe},
			Why: "the replica that is promoted may lack the last writes, a grant or its end among them", Source: manual},
		{Fault: "failover-unreplicated", Outcomes: []lb.Outcome{lb.Broken},
			Why: "the replica that takes over has never heard of the grant", Source: manual},
	}
}

// OnDisk is what a lock with a lease is good for that is a row: the end of its server is nothing to it.
func (d Database) OnDisk(lease []lb.Expectation) []lb.Expectation {
	return Except(OnWallClock(lease), append(slices.Concat(notTied(), d.onPrimary(), Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check},
		Why: "the row is on the disk before anybody is told of it, and its lease goes on while the server is away", Source: d.Disk}, endingServers()...)), forgotten())...)
}

// notTied is what the end of a connection does to a lock that is a row: nothing.
func notTied() []lb.Expectation {
	return Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe},
		Why: "the row stays, whatever becomes of the connection that wrote it; its owner connects again", Source: ownClaim}, EndingConnections()...)
}

// Connected is what a lock is good for that the server ties to a connection.
func (d Database) Connected() []lb.Expectation {
	manual := d.Locking
	return Except(Except(OnSession(d.Endless()), slices.Concat(
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the server frees the lock with the connection at once, while the client at work does not listen: the holder's next look comes too late", Source: manual}, EndingConnections()...),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe},
			Why: "who is not sure of a connection has the server kill it, and its lock with it", Source: manual}, "lost-grant", "late-grant", "reset-grant", "cut-rejoin"),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
			Why: "the lock ends with the server that dies: whether somebody else gets it before its holder is told is chance", Source: manual}, endingServers()...),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check},
			Why: d.Unreplicated + " are not replicated, and who is promoted knows of none; whether the holder or somebody else is the first to know is chance", Source: manual}, "failover", "failover-unreplicated"))...),
		lb.Expectation{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the kernel of the dead closes its connection, and the server frees its lock at once", Source: manual},
		lb.Expectation{Fault: "restart-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the new process has another connection, and the lock went with that of the dead", Source: manual},
		lb.Expectation{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "a frozen process keeps its connection, and so its lock: the outage is as long as the fault", Source: manual},
		lb.Expectation{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the server keeps a silent connection for " + d.Silent + ", and so its lock: the outage is as long as the fault", Source: manual},
		lb.Expectation{Fault: "failover-by-command", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: d.Unreplicated + " are not replicated: who is promoted knows of none", Source: manual},
		lb.Expectation{Fault: "rolling-restart", Outcomes: []lb.Outcome{lb.Broken, lb.Check},
			Why: "the server that is shut down closes its connections; whether the holder or somebody else is the first to know is chance", Source: manual},
	)
}
