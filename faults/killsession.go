package faults

import "github.com/lockbench/lockbench/lab"

// killSession: somebody who looks for what blocks a server finds the holder, idle for long,
// and ends its connection.
func killSession() Fault {
	return underHolder(Fault{Name: "kill-session", Needs: []Need{Can(lab.ClientHosts)},
		Doc: "KILL of the connections of a holder's process at the server, while it works"}, lab.KillSession)
}
