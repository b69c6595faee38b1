package faults

import "github.com/lockbench/lockbench/lab"

// schemaChange: the statement waits for who uses the table, and all others wait for it.
func schemaChange() Fault {
	return underHolder(Fault{Name: "schema-change", Needs: []Need{Tables},
		Doc: "ALTER TABLE adds a column to the lock's table while a client holds the lock"}, lab.AlterTable)
}
