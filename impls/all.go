// Package impls lists every lock algorithm of the bench. Each lives in one file
// of the package of its backend; a new one needs that file and a line here.
package impls

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/etcd"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/impls/mysql"
	"github.com/lockbench/lockbench/impls/none"
	"github.com/lockbench/lockbench/impls/peers"
	"github.com/lockbench/lockbench/impls/postgres"
	"github.com/lockbench/lockbench/impls/published"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/impls/zk"
)

// All returns the algorithms in the order of the matrix's rows.
func All() []lb.Impl {
	return slices.Concat([]lb.Impl{
		none.New(),
		redis.SetNXExpire(),
		redis.SetNXGetSet(),
		redis.SetPXDel(),
		redis.SetPXGetDel(),
		redis.SetPXLua(),
		redis.Watchdog(),
		redis.WatchdogExpire(),
		redis.Reentrant(),
		redis.Fair(),
		redis.ReadWrite(),
		redis.Fenced(),
		redis.Wait(),
		redis.Redlock(),
		redis.RedlockRestartDelay(),
		redis.RedlockSequential(),
		redis.RedlockWatchdog(),
		zk.Herd(),
		zk.Sequential(),
		zk.Container(),
		zk.TTL(),
		zk.RW(),
		etcd.Lease(),
		etcd.Mutex(),
		etcd.Election(),
		etcd.V3Lock(),
		mysql.Insert(),
		mysql.InsertTTL(),
		mysql.Queue(),
		mysql.Version(),
		mysql.ForUpdate(),
		mysql.ForUpdateNoIndex(),
		mysql.GetLock(),
		postgres.Advisory(),
		postgres.AdvisoryXact(),
		postgres.ForUpdate(),
		postgres.SkipLocked(),
		postgres.Insert(),
		postgres.AdvisoryPooled(),
		peers.Redsync(),
		peers.Redislock(),
		peers.SetNX(),
		peers.Rueidislock(),
		peers.ZKLock(),
		published.Lettuce(),
		published.Jetcd(),
		published.RedisLockUtil(),
		published.RedisLockUtil2(),
		published.ZKDistributedLock(),
		published.ZKImproveLock(),
	}, languages.All())
}

// Find returns the algorithm of that name.
func Find(name string) (lb.Impl, bool) {
	all := All()
	i := slices.IndexFunc(all, func(impl lb.Impl) bool { return impl.Info().Name == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}
