package zk

import (
	"context"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// RW is [Sequential] with two kinds of nodes in one queue:
//
//   - a read node waits for the last write node before it, and so shares the lock
//     with the read nodes in between;
//   - a write node waits for the node just before it, whatever it is.
//
// Only exclusive grants have a token: who may only read has nothing to fence.
//
// Source: ZooKeeper Recipes, "Shared Locks"; Apache Curator's
// InterProcessReadWriteLock.
func RW() lb.Impl {
	info := queueInfo("zk-rw", "read and write nodes in one queue; a reader waits for the last writer before it",
		`ZooKeeper Recipes, "Shared Locks"; Apache Curator, InterProcessReadWriteLock`)
	info.Traits.Shared = true
	return algorithm{info: info, open: func(c *client) lb.Client {
		return rw{&queue{client: c, root: "/lockbench-rw", lay: persistent, mode: readOrWrite, before: conflict, last: map[string]int{}}}
	}}
}

const (
	modeRead  = "read"
	modeWrite = "write"
)

func readOrWrite(req lb.Request) (string, error) {
	if req.Shared {
		return modeRead, nil
	}
	return modeWrite, nil
}

// conflict is the last node before the one at i that it can't share the lock with.
func conflict(queue []string, i int) string {
	reads := isRead(queue[i])
	for i--; i >= 0; i-- {
		if !reads || !isRead(queue[i]) {
			return queue[i]
		}
	}
	return ""
}

func isRead(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, sequence(name)), "-"+modeRead+"-")
}

type rw struct{ *queue }

func (c rw) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.queue.Acquire(ctx, req)
	if err == nil && req.Shared {
		lease.Token = 0
	}
	return lease, err
}
