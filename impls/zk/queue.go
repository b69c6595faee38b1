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
	lay  layer
	// mode is the part of a name that says what its owner wants.
	mode func(lb.Request) (string, error)
	// before is the node that the one at i of the queue has to wait for, or "".
	before func(queue []string, i int) string
	// change hears when the queue is worth reading again, which it is at once where the channel is nil. Where there is no such
	// function, that is when the node ahead is gone.
	change func(ctx context.Context, t *ticket, p place, ahead string) (<-chan zk.Event, error)
	// last are the numbers of the nodes with which this client held locks last, by lock;
	// nil where the numbers of a lock's nodes can begin anew.
	last map[string]int
}

// layer makes the lock's own node, below which the queue is.
type layer func(ctx context.Context, s *zksession.Session, req lb.Request, path string) error

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
		Requests:   []string{"create", "make", "sync", "find", "read", "children", "watch", "check", "renew", "look", "delete", "ping", "close"},
		Reads:      []string{"sync", "find", "read", "children", "watch", "look"},
		Own:        []string{"ping"},
		Takes:      "create",
		Traits:     lb.Traits{Fenced: true, Leased: true, Renewing: true, Push: true, Fair: true, Session: true, LostNotice: true},
		Expect:     ephemeral(),
	}
}

// ephemeral is what a lock that is an ephemeral node is good for.
func ephemeral() []lb.Expectation {
	return compose.Except(compose.OnSession(compose.OnMonotonicClock(compose.OnQuorum(compose.FencedLease()), "ZooKeeper")), killedAfterCreate(), compose.KeptAlive())
}

func killedAfterCreate() lb.Expectation {
	return lb.Expectation{Fault: "kill@after-create", Outcomes: []lb.Outcome{lb.Safe},
		Why: "the node ends with the session of the one who made it", Source: "ZooKeeper Programmer's Guide, ephemeral nodes"}
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
		path, err := zksession.Do(ctx, t.session, t.req, "create", func(z *zk.Conn) (string, error) {
			return z.Create(p.lock+"/"+p.prefix, nil, zk.FlagEphemeralSequential, open)
		})
		t.entered = t.entered || !errors.Is(err, lb.ErrNotSent)
		switch {
		case path != "": // made, whatever stops us now
			return errors.Join(t.known(ctx, path), err)
		case errors.Is(err, zk.ErrNoNode): // the lock's first use, or an empty container was deleted
			if err := q.layAll(ctx, t, p.lock); err != nil {
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

func (q *queue) layAll(ctx context.Context, t *ticket, lock string) error {
	if err := persistent(ctx, t.session, t.req, q.root); err != nil {
		return err
	}
	return q.lay(ctx, t.session, t.req, lock)
}

// follows reports whether the ticket's number is the next after that with which this
// client was first in the queue and gave the lock back: then it is first again.
func (q *queue) follows(t *ticket) bool {
	last, ok := q.last[t.req.Lock]
	if !ok {
		return false
	}
	delete(q.last, t.req.Lock)
	t.first = number(t.path) == last+1
	return t.first
}

// gaveBack remembers a ticket whose node is certainly gone.
func (q *queue) gaveBack(t *ticket) {
	const most = 1000 // locks
	if n := number(t.path); t.first && n >= 0 && q.last != nil && len(q.last) < most {
		q.last[t.req.Lock] = n
	}
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
	stat, err := zksession.Repeat(ctx, t.session, t.req, "read", func(z *zk.Conn) (*zk.Stat, error) {
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
	err := t.sync(ctx, p.lock)
	if err != nil {
		return err
	}
	names, err := zksession.Repeat(ctx, t.session, t.req, "find", func(z *zk.Conn) ([]string, error) {
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
	if ok && err == nil {
		q.gaveBack(t)
	}
	if ok && t.lease == nil && lb.AnswerOf(err) != lb.AnswerUnknown {
		return lb.ErrLost
	}
	return err
}
