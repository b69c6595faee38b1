package faults

import "github.com/lockbench/lockbench/lab"

// defrag: the member answers nobody while it rewrites its file.
func defrag() Fault {
	return underHolder(Fault{Name: "defrag",
		Doc: "the leader's file is defragmented while a client holds the lock"}, lab.Defragment)
}
