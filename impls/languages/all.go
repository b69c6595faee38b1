package languages

import lb "github.com/lockbench/lockbench"

// All are the rows, in the order of the matrix.
func All() []lb.Impl {
	return []lb.Impl{
		RedisPy(), NodeRedis(), RedisCLI(),
		Kazoo(), KazooRW(), KazooSemaphore(),
		Curator(), CuratorRW(), CuratorSemaphore(),
		PythonEtcd3(),
	}
}
