package faults

import "github.com/lockbench/lockbench/lab"

// snapshot is what a backup does every hour: the server forks and writes (Redis), sends all that
// it has (etcd), or lets nobody write while its disk is copied (MariaDB).
func snapshot() Fault {
	return amongClients(Fault{Name: "snapshot",
		Doc: "people have the servers make a snapshot of all they know while clients work: BGSAVE, etcdctl snapshot save, FLUSH TABLES WITH READ LOCK"}, lab.Snapshot)
}
