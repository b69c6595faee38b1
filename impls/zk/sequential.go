package zk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// Sequential is the lock of ZooKeeper's recipes, with what experience added:
//
//  1. create an ephemeral sequential node under the lock's node, with the owner in
//     its name: if the reply is lost, the node is found again by its name;
//  2. read the queue: the lowest number holds the lock, and one's own node must be
//     among them. There is nothing to read if the number follows that of the node with
//     which this client held the lock last: nobody has come since;
//  3. else watch the node just before one's own, wait until it is gone, and read
//     the queue again: it may have gone because its owner gave up;
//  4. after a wait for longer than a third of a TTL, have a transaction check that one's
//     own node still exists: before that, the transaction that made it has shown the
//     session to be alive as well as the latest renewal of a holder would;
//  5. delete the node to release.
//
// The transaction that made the node is the fencing token: ZooKeeper counts them
// up for ever, while the numbers of the names begin anew with the lock's node.
//
// Source: ZooKeeper Recipes, "Locks"; Apache Curator's InterProcessMutex for the
// protected name.
func Sequential() lb.Impl {
	info := queueInfo("zk-sequential", "ephemeral sequential nodes; lowest holds; watch the predecessor",
		`ZooKeeper Recipes, "Locks"; Apache Curator, InterProcessMutex and protected names`)
	info.ByTheBook = true
	return algorithm{
		info: info,
		open: func(c *client) lb.Client {
			return &queue{client: c, root: "/lockbench-sequential", lay: persistent, mode: exclusive, before: predecessor, last: map[string]int{}}
		},
	}
}

func (q *queue) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	mode, err := q.mode(req)
	if err != nil {
		return nil, err
	}
	s, err := q.current(ctx)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	p := place{lock: node(q.root, req.Lock), prefix: protectedName(req.Owner, mode)}
	t := &ticket{env: q.env, req: req, session: s}
	q.held.Put(req.Owner, t)
	if err = q.enter(ctx, t, p); err == nil && !q.follows(t) {
		err = q.wait(ctx, req, t, p)
	}
	if err == nil {
		return t.grant(), nil
	}
	return nil, q.leave(ctx, req, err, q.Release)
}

// wait returns when nobody in the queue stands before the ticket.
func (q *queue) wait(ctx context.Context, req lb.Request, t *ticket, p place) error {
	for {
		ahead, err := q.ahead(ctx, t, p)
		switch {
		case err != nil:
			return err
		case ahead == "" && q.env.Clock.Mono().Sub(t.alive) > q.env.TTL/3:
			return q.check(ctx, t)
		case ahead == "":
			return nil
		case req.Try:
			return lb.ErrHeld
		}
		change, what := aheadGone, ahead
		if q.change != nil {
			change, what = q.change, "the queue"
		}
		deleted, err := change(ctx, t, p, ahead)
		if err != nil {
			return fmt.Errorf("zk: watch %s: %w", what, err)
		}
		if deleted == nil {
			continue
		}
		if err := q.await(ctx, req, t.session, deleted); err != nil {
			return fmt.Errorf("zk: wait for %s: %w", what, err)
		}
	}
}

// aheadGone hears of the end of the node ahead.
func aheadGone(ctx context.Context, t *ticket, p place, ahead string) (<-chan zk.Event, error) {
	return watchDelete(ctx, t.session, t.req, p.lock+"/"+ahead)
}

// children are the names of the nodes in the queue.
func children(ctx context.Context, t *ticket, p place) ([]string, error) {
	return zksession.Repeat(ctx, t.session, t.req, "children", func(z *zk.Conn) ([]string, error) {
		names, _, err := z.Children(p.lock)
		return names, err
	})
}

// ahead reads the queue and returns whom to wait for.
func (q *queue) ahead(ctx context.Context, t *ticket, p place) (string, error) {
	names, err := children(ctx, t, p)
	if err != nil {
		return "", fmt.Errorf("zk: read the queue: %w", err)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(sequence(a), sequence(b)) })
	own := slices.IndexFunc(names, func(name string) bool { return p.lock+"/"+name == t.path })
	if own < 0 {
		return "", errors.New("zk: the own node is gone: the session has ended")
	}
	t.first = own == 0
	return q.before(names, own), nil
}

// check is the look at one's own node after the wait.
func (q *queue) check(ctx context.Context, t *ticket) error {
	call := q.env.Clock.Mono()
	if err := t.confirm(ctx, "check"); err != nil {
		return fmt.Errorf("zk: check %s: %w", t.path, err)
	}
	t.alive = call
	return nil
}
