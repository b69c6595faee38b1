package redis

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// Cluster is [SetPXLua] in a Redis Cluster, whose clients send each request to the master that has the lock's key:
//
//	SET lock owner NX PX ttl                 at the master of its slot
//	if GET lock = owner then DEL lock        (atomically, in Lua)
//
// A master confirms a write before its replica has it, and the replica takes its place when most masters take it for dead.
// One that most of them can't reach goes on for a while before it stops: what it grants then is forgotten.
//
// Source: redis.io, "Redis cluster specification", on write safety; "Scale with Redis Cluster", on consistency guarantees.
func Cluster() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-cluster",
			Doc:        "redis-setpx-lua in a Redis Cluster, at the master of the lock's slot",
			Source:     `redis.io, "Redis cluster specification"`,
			Topologies: []string{"redis-cluster"},
			Requests:   []string{"set", "compare-and-delete"},
			Takes:      "set",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.InCluster(compose.InRedis(compose.OnWallClock(compose.Lease()))),
		},
		cluster: true,
		open:    func(s session) lb.Client { return setPXLua{s} },
	}
}
