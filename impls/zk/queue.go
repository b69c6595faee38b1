package zk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// queue is a lock whose waiters are nodes in a row.
type queue struct {
	*client
	root string
	// lay makes the lock's own node.
	lay func(context.Context, *zksession.Session, string) error
	// mode is the part of a name that says what its owner wants.
	mode func(lb.Request) (string, error)
	// before is the node that the one at i of the queue has to wait for, or "".
	before func(queue []string, i int) string
}

func exclusive(req lb.Request) (string, error) {
	if req.Shared {
		return "", lb.ErrUnsupported
	}
	return "lock", nil
}

func predecessor(queue []string, i int) string {
	if i == 0 {
		return ""
	}
	return queue[i-1]
}

// queueInfo is what the algorithms with a queue have in common.
func queueInfo(name, doc, source string) lb.Info {
	return lb.Info{
		Name: name, Doc: doc, Source: source,
		Topologies: []string{"zookeeper", "zookeeper-3", "zookeeper-5"},
		Steps: []string{"before-create", "after-create", "before-children", "after-children", "before-watch", "after-watch",
			"before-check", "after-check", "before-delete", "after-delete"},
		Traits: lb.Traits{Fenced: true, Leased: true, Renewing: true, Push: true, Fair: true, LostNotice: true},
		Expect: ephemeral(),
	}
}

// ephemeral is what a lock that is an ephemeral node is good for.
func ephemeral() []lb.Expectation {
	return compose.Except(compose.OnMonotonicClock(compose.OnQuorum(compose.FencedLease()), "ZooKeeper"), lb.Expectation{
		Fault: "crash-at:after-create", Outcomes: []lb.Outcome{lb.Safe},
		Why: "the node ends with the session of the one who made it", Source: "ZooKeeper Programmer's Guide, ephemeral nodes",
	})
}

// place is where in the tree an acquisition's node is.
type place struct{ lock, prefix string }

// protectedName is the beginning of an acquisition's node, in Curator's form.
func protectedName(owner, mode string) string {
	return "_c_" + url.PathEscape(owner) + "-" + mode + "-"
}

// enter makes the node, once: if the connection is lost it looks for it first.
func (q *queue) enter(ctx context.Context, t *ticket, p place) error {
	for {
		t.alive = q.env.Clock.Mono()
		path, err := zksession.Do(ctx, t.session, func(z *zk.Conn) (string, error) {
			return z.Create(p.lock+"/"+p.prefix, nil, zk.FlagEphemeralSequential, open)
		})
		switch {
		case err == nil:
			return t.known(ctx, path)
		case errors.Is(err, zk.ErrNoNode): // the lock's first use, or an empty container was deleted
			if err := q.layAll(ctx, t.session, p.lock); err != nil {
				return fmt.Errorf("zk: make %s: %w", p.lock, err)
			}
		case !zksession.Unanswered(err):
			return fmt.Errorf("zk: create a node in %s: %w", p.lock, err)
		default:
			if err := t.find(ctx, p); err != nil || t.path != "" {
				return err
			}
		}
	}
}

func (q *queue) layAll(ctx context.Context, s *zksession.Session, lock string) error {
	if err := persistent(ctx, s, q.root); err != nil {
		return err
	}
	return q.lay(ctx, s, lock)
}

// known records the node whose creation was answered, and which transaction it was.
func (t *ticket) known(ctx context.Context, path string) error {
	zxid, ok := t.session.Created(path)
	if !ok {
		return t.found(ctx, path)
	}
	t.path, t.zxid = path, zxid
	return nil
}

// found asks the server for the same.
func (t *ticket) found(ctx context.Context, path string) error {
	stat, err := zksession.Repeat(ctx, t.session, func(z *zk.Conn) (*zk.Stat, error) {
		_, stat, err := z.Get(path)
		return stat, err
	})
	if err != nil {
		return fmt.Errorf("zk: read %s: %w", path, err)
	}
	t.path, t.zxid = path, uint64(stat.Czxid)
	return nil
}

// find looks for a node whose creation was not answered; t.path stays "" where
// there is none. The sync makes the server that is asked know all that the
// leader has committed, and the leader refuses what still comes from the old one.
func (t *ticket) find(ctx context.Context, p place) error {
	names, err := zksession.Repeat(ctx, t.session, func(z *zk.Conn) ([]string, error) {
		if _, err := z.Sync(p.lock); err != nil {
			return nil, err
		}
		names, _, err := z.Children(p.lock)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	} else if err != nil {
		return fmt.Errorf("zk: look for an orphan in %s: %w", p.lock, err)
	}
	if i := slices.IndexFunc(names, func(name string) bool { return named(name, p.prefix) }); i >= 0 {
		return t.found(ctx, p.lock+"/"+names[i])
	}
	return nil
}

// Release implements lb.Client. Who gives back a place in the queue did not hold the
// lock.
func (q *queue) Release(ctx context.Context, req lb.Request) error {
	t, ok := q.held.Get(req.Owner)
	err := q.release(ctx, req, func(ctx context.Context, t *ticket) error {
		mode, err := q.mode(req)
		if err != nil {
			return err
		}
		return t.find(ctx, place{lock: node(q.root, req.Lock), prefix: protectedName(req.Owner, mode)})
	})
	if err == nil && ok && t.lease == nil {
		return lb.ErrLost
	}
	return err
}
