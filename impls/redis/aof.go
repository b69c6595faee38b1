package redis

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// AOF is [SetPXLua] on a server that has a grant on its disk before it confirms it: a server that is started again
// still knows who holds the lock. The clients do nothing else: it is the one who runs the server that sets
// "appendonly yes" and "appendfsync always". Source: redis.io, "Redis persistence".
//
// A server that is killed shows no difference between that and the default of "appendfsync everysec", since what was
// written is the kernel's by then. Where the machine dies the default may forget a second, and with it each grant of
// that second; lockbench kills no machine.
func AOF() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-aof",
			Doc:        "redis-setpx-lua on a server that has each grant on its disk before it confirms it (appendfsync always)",
			Source:     `redis.io, "Distributed Locks with Redis", single instance; "Redis persistence"`,
			Topologies: []string{"redis-aof"},
			Requests:   []string{"set", "compare-and-delete"},
			Takes:      "set",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.OnDisk(compose.InRedis(compose.OnWallClock(compose.Lease()))),
		},
		open: func(s session) lb.Client { return setPXLua{s} },
	}
}
