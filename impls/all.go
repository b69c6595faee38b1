// Package impls lists every lock algorithm of the bench. Each lives in one file
// of the package of its backend; a new one needs that file and a line here.
package impls

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/etcd"
	"github.com/lockbench/lockbench/impls/none"
	"github.com/lockbench/lockbench/impls/redis"
)

// All returns the algorithms in the order of the matrix's rows.
func All() []lb.Impl {
	return []lb.Impl{
		none.New(),
		redis.SetNXExpire(),
		redis.SetPXDel(),
		redis.SetPXLua(),
		redis.Fenced(),
		etcd.Lease(),
	}
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
