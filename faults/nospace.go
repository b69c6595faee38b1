package faults

import "github.com/lockbench/lockbench/lab"

// noSpace is what etcd does when its database has grown to the quota, 2 GiB by default.
func noSpace() Fault {
	return amongClients(Fault{Name: "nospace-alarm",
		Doc: "etcd's alarm NOSPACE: the cluster refuses all writes until it is disarmed"}, lab.NoSpace)
}
