// Package backends is where the databases are: each has a folder, which holds what the bench
// needs of it and nobody else names.
package backends

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/backends/etcd"
	"github.com/lockbench/lockbench/backends/mariadb"
	"github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/backends/zookeeper"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads/guard"
)

// yardsticks are how fast the servers themselves are, by their software.
var yardsticks = map[string]func(ctx context.Context, endpoint string) (*lab.Yardstick, error){
	"redis": redis.Yardstick,
}

// Topologies are all there are, with what the folders have for their kinds.
func Topologies() []lab.Topology {
	all := WithGuests(lab.Topologies())
	for i := range all {
		kind := &all[i].Kind
		kind.Yardstick = yardsticks[kind.Software.Name]
	}
	return slices.Concat(all, zookeeper.Topologies(), etcd.Topologies(), mariadb.Topologies(), postgres.Topologies())
}

// Stores are the databases that can keep the protected store's fenced copy.
func Stores() []guard.Kind {
	return []guard.Kind{redis.Store(), mariadb.Store(), postgres.Store(), etcd.Store()}
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
