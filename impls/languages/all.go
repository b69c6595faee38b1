package languages

import lb "github.com/lockbench/lockbench"

// Libraries are the rows, in the order of the matrix, but for [RedisCLI], which is none.
func Libraries() []lb.Impl {
	return []lb.Impl{
		RedisPy(), NodeRedis(),
		Kazoo(), KazooRW(), KazooSemaphore(),
		Curator(), CuratorRW(), CuratorSemaphore(),
		PythonEtcd3(),
	}
}
