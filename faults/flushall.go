package faults

import "github.com/lockbench/lockbench/lab"

// flushAll is what somebody types who thinks that only a cache is in there.
func flushAll() Fault {
	return underHolder(Fault{Name: "flushall",
		Doc: "FLUSHALL while a client holds the lock: the servers forget every grant"}, lab.FlushAll)
}
