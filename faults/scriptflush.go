package faults

import "github.com/lockbench/lockbench/lab"

// scriptFlush: a client that sends a script by its digest must send it whole again.
func scriptFlush() Fault {
	return amongClients(Fault{Name: "script-flush", Needs: []Need{Scripts},
		Doc: "SCRIPT FLUSH: the servers forget the scripts that locks are made of"}, lab.ScriptFlush)
}
