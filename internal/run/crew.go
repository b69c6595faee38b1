package run

import (
	"slices"
	"sync"

	"github.com/lockbench/lockbench/lab"
)

// crew are the worker processes of a run. A fault may start another while other faults look
// at those that there are.
type crew struct {
	blame func(what string) // is told what a lock's program did wrong

	mu  sync.Mutex
	all []*workerProc
}

// join adds processes that were started.
func (c *crew) join(w ...*workerProc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, w...)
}

// list is all that were ever started, the first worker first.
func (c *crew) list() []*workerProc {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

// alive are those that run.
func (c *crew) alive() []*workerProc {
	return slices.DeleteFunc(c.list(), func(w *workerProc) bool { return !w.alive() })
}

// hosts are those that run, one of each host.
func (c *crew) hosts() (some []*workerProc) {
	for _, w := range c.alive() {
		if !slices.ContainsFunc(some, func(o *workerProc) bool { return o.host == w.host }) {
			some = append(some, w)
		}
	}
	return some
}

// on are those that run on a host.
func (c *crew) on(h lab.Host) []*workerProc {
	return slices.DeleteFunc(c.alive(), func(w *workerProc) bool { return w.host != h })
}
