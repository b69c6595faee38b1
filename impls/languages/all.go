package languages

import lb "github.com/lockbench/lockbench"

// Libraries are the rows that are libraries, in the order of the matrix; [RedisCLI] is one of what was published.
func Libraries() []lb.Impl {
	return []lb.Impl{
		RedisPy(), NodeRedis(), Portalocker(), SymfonyRedis(),
		Kazoo(), KazooRW(), KazooSemaphore(),
		Curator(), CuratorRW(), CuratorSemaphore(),
		PythonEtcd3(),
		SymfonyPDO(), ToozMySQL(), ToozPostgreSQL(), ToozMemcached(),
	}
}
