package faults

import "github.com/lockbench/lockbench/lab"

// outOfMemory: by Redis' default, noeviction, who is full refuses writes.
func outOfMemory() Fault {
	return amongClients(Fault{Name: "out-of-memory",
		Doc: "the servers' memory is full, and they refuse all writes that need more"}, lab.FillMemory)
}
