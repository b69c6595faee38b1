// Package backends is where the databases are: each has a folder, which holds what the bench
// needs of it and nobody else names.
package backends

import (
	"slices"

	"github.com/lockbench/lockbench/backends/consul"
	"github.com/lockbench/lockbench/backends/etcd"
	"github.com/lockbench/lockbench/backends/kubernetes"
	"github.com/lockbench/lockbench/backends/mariadb"
	"github.com/lockbench/lockbench/backends/memcached"
	"github.com/lockbench/lockbench/backends/nats"
	"github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/backends/zookeeper"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads/guard"
)

// Topologies are all there are.
func Topologies() []lab.Topology {
	none := []lab.Topology{{Name: "none", Doc: "no lock service"}}
	return slices.Concat(none, redis.Topologies(), zookeeper.Topologies(), etcd.Topologies(), mariadb.Topologies(), postgres.Topologies(), memcached.Topologies(), nats.Topologies(), consul.Topologies(), kubernetes.Topologies())
}

// Stores are the databases that can keep the protected store's fenced copy.
func Stores() []guard.Database {
	return []guard.Database{redis.Store(), mariadb.Store(), postgres.Store(), etcd.Store()}
}

// Topology returns the one of that name.
func Topology(name string) (lab.Topology, bool) {
	all := Topologies()
	i := slices.IndexFunc(all, func(t lab.Topology) bool { return t.Name == name })
	if i < 0 {
		return lab.Topology{}, false
	}
	return all[i], true
}
