// Package impls lists every lock algorithm of the bench. Each lives in one file of the package of its
// backend; a new one needs that file and a line here, under the title that stands above its row.
package impls

import (
	"slices"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/consul"
	"github.com/lockbench/lockbench/impls/etcd"
	"github.com/lockbench/lockbench/impls/kubernetes"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/impls/memcached"
	"github.com/lockbench/lockbench/impls/mysql"
	"github.com/lockbench/lockbench/impls/nats"
	"github.com/lockbench/lockbench/impls/none"
	"github.com/lockbench/lockbench/impls/peers"
	"github.com/lockbench/lockbench/impls/postgres"
	"github.com/lockbench/lockbench/impls/published"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/impls/zk"
)

// group is a run of the matrix's rows, under its title.
type group struct {
	title string
	locks []lb.Impl
}

// groups are in the order of the matrix. They are made once: each process of a run asks for them, and what the
// rows of other languages are is parsed.
var groups = sync.OnceValue(func() []group {
	return []group{
		{"Without a lock", []lb.Impl{
			none.New(),
		}},
		{"Redis", []lb.Impl{
			redis.SetNXExpire(),
			redis.SetNXGetSet(),
			redis.SetPXDel(),
			redis.SetPXGetDel(),
			redis.SetPXLua(),
			redis.AOF(),
			redis.Watchdog(),
			redis.WatchdogExpire(),
			redis.Reentrant(),
			redis.Fair(),
			redis.ReadWrite(),
			redis.Semaphore(3),
			redis.Fenced(),
			redis.Wait(),
			redis.Cluster(),
			redis.Redlock(),
			redis.RedlockRestartDelay(),
			redis.RedlockSequential(),
			redis.RedlockWatchdog(),
		}},
		{"ZooKeeper", []lb.Impl{
			zk.Herd(),
			zk.Sequential(),
			zk.Container(),
			zk.TTL(),
			zk.RW(),
			zk.Semaphore(3),
		}},
		{"etcd", []lb.Impl{
			etcd.Lease(),
			etcd.Mutex(),
			etcd.Election(),
			etcd.V3Lock(),
		}},
		{"MySQL", []lb.Impl{
			mysql.Insert(),
			mysql.InsertTTL(),
			mysql.Queue(),
			mysql.Version(),
			mysql.ForUpdate(),
			mysql.ForUpdateNoIndex(),
			mysql.GetLock(),
		}},
		{"PostgreSQL", []lb.Impl{
			postgres.Advisory(),
			postgres.AdvisoryXact(),
			postgres.ForUpdate(),
			postgres.SkipLocked(),
			postgres.Insert(),
			postgres.AdvisoryPooled(),
		}},
		{"memcached", []lb.Impl{
			memcached.AddDelete(),
			memcached.AddCas(),
		}},
		{"NATS", []lb.Impl{
			nats.KV(),
			nats.AnyDelete(),
			nats.Lease(),
		}},
		{"Consul", []lb.Impl{
			consul.Session(),
			consul.NoDelay(),
		}},
		{"Kubernetes", []lb.Impl{
			kubernetes.Lease(),
		}},
		{"Libraries", append([]lb.Impl{
			peers.Redsync(),
			peers.Redislock(),
			peers.SetNX(),
			peers.Rueidislock(),
			peers.ZKLock(),
			peers.ConsulLock(),
			peers.GooseTable(),
			peers.GooseSession(),
		}, languages.Libraries()...)},
		{"As published", []lb.Impl{
			published.Lettuce(),
			published.Jetcd(),
			published.RedisLockUtil(),
			published.RedisLockUtil2(),
			published.ZKDistributedLock(),
			published.ZKImproveLock(),
			languages.RedisCLI(),
		}},
	}
})

// All returns the algorithms in the order of the matrix's rows.
func All() (all []lb.Impl) {
	for _, g := range groups() {
		all = append(all, g.locks...)
	}
	return all
}

// Groups are the titles above the rows, by the names of the algorithms.
func Groups() map[string]string {
	titles := map[string]string{}
	for _, g := range groups() {
		for _, l := range g.locks {
			titles[l.Info().Name] = g.title
		}
	}
	return titles
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
