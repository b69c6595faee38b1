package mysql

import (
	_ "embed"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

//go:embed noindex.sql
var noIndexTable string

// ForUpdateNoIndex is [ForUpdate] on a table whose column of names has no index:
//
//	SELECT 1 FROM locks WHERE name = lock FOR UPDATE    reads, and locks, every row
//	COMMIT
//
// InnoDB locks what it reads, not what it finds, and without an index it reads the
// whole table, up to the gap behind its last row. So every lock excludes every
// other, whatever their names, and while any is held not even a new row can be
// made. For one lock alone it is as good as the other. That holds at the default
// isolation level, REPEATABLE READ; at READ COMMITTED the rows that don't match
// are let go. Source: surveys that warn of it; the MySQL manual, "Locks Set by
// Different SQL Statements in InnoDB".
func ForUpdateNoIndex() lb.Impl {
	return algorithm(lb.Info{
		Name:       "mysql-forupdate-noindex",
		Doc:        "the same by a column without an index: each lock excludes all others, too",
		Source:     `surveys that warn of it; MySQL manual, "Locks Set by Different SQL Statements in InnoDB"`,
		Topologies: topologies,
		Requests:   forUpdateRequests,
		Reads:      sqllock.Reads,
		Own:        sqllock.Own,
		Takes:      "select-for-update",
		Tables:     true,
		InMemory:   true,
		Traits:     lb.Traits{Push: true, Session: true, LostNotice: true},
		Expect:     manual.Connected(),
	}, []string{noIndexTable}, openForUpdate("lockbench_forupdate_noindex"))
}
