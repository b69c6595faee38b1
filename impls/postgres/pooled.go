package postgres

import lb "github.com/lockbench/lockbench"

// AdvisoryPooled is [Advisory] behind PgBouncer in transaction mode, which gives a client a connection to the server
// for one transaction, and then to another client: a trap. The lock stays with the connection to the server, and
// whoever gets that next has the lock, too; whoever gives it back may be on another connection, which does not have
// it. Source: PgBouncer's documentation, "Features", which says that session-level advisory locks don't work so.
func AdvisoryPooled() lb.Impl {
	info := advisoryInfo("postgres-advisory-pooled")
	info.Doc = "postgres-advisory behind PgBouncer in transaction mode: a trap"
	info.Source = `PgBouncer documentation, "Features"`
	info.Topologies = []string{"postgres-pooled"}
	info.Traits.Session = false // whose connection it is nobody can say
	info.Expect = pooled()
	return algorithm(info, nil, openAdvisory)
}
