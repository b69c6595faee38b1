package zk

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// Semaphore is [Sequential] with several permits: as many nodes hold one as there are, the lowest numbers. Whoever is behind them
// waits for any change of the queue, since any of those before it may go first; so all who wait are woken by each
// release, and by whoever comes after them.
//
// It gives no token: of its holders the one with the lowest may be in the right.
//
// Source: Apache Curator's InterProcessSemaphoreV2, which counts the nodes in the same way, and has those who wait take a mutex
// first, so that only one of them is woken.
func Semaphore(permits int) lb.Impl {
	info := queueInfo("zk-semaphore", fmt.Sprintf("ephemeral sequential nodes; the lowest %d hold; watch the queue", permits),
		"Apache Curator, InterProcessSemaphoreV2")
	info.Traits.Fenced, info.Traits.Permits = false, permits
	info.Expect = unfenced()
	return algorithm{info: info, open: func(c *client) lb.Client {
		return untokened{&queue{client: c, root: "/lockbench-semaphore", lay: persistent, mode: exclusive, change: anyChange(permits),
			before: func(queue []string, i int) string {
				if i < permits {
					return ""
				}
				return queue[i-permits]
			}}}
	}}
}

// unfenced is what a lock that is an ephemeral node is good for whose holders have no token.
func unfenced() []lb.Expectation {
	all := compose.OnSession(compose.OnMonotonicClock(compose.OnQuorum(compose.Lease()), "ZooKeeper"))
	return compose.Except(all, killedAfterCreate(), compose.KeptAlive(), lb.Expectation{
		Fault: "expire-waiter", Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
		Why:    "while one holds, who waits may be granted another permit in the moment in which its session is ended, and the next is granted it at once, perhaps before that one is told",
		Source: "the algorithm's own claim"})
}

// anyChange hears of one of the queue, unless the ticket is among those who hold by then.
func anyChange(permits int) func(context.Context, *ticket, place, string) (<-chan zk.Event, error) {
	return func(ctx context.Context, t *ticket, p place, _ string) (<-chan zk.Event, error) {
		type seen struct {
			names   []string
			changed <-chan zk.Event
		}
		now, err := zksession.Repeat(ctx, t.session, t.req, "watch", func(z *zk.Conn) (seen, error) {
			names, _, changed, err := z.ChildrenW(p.lock)
			return seen{names, changed}, err
		})
		before := 0
		for _, name := range now.names {
			if sequence(name) < sequence(t.path) {
				before++
			}
		}
		if err != nil || before < permits {
			return nil, err
		}
		return now.changed, nil
	}
}

type untokened struct{ *queue }

func (c untokened) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.queue.Acquire(ctx, req)
	if err == nil {
		lease.Token = 0
	}
	return lease, err
}
