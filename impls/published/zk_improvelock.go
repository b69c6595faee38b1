package published

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// ZKImproveLock is the listing "ZookeeperImproveLock" of page 004, line by line:
//
//	tryLock()      if currentPath is null or /LOCK is empty: create /LOCK/lockN
//	               the lowest N holds; else beforePath is the one before currentPath.substring(6)
//	lock()         if !tryLock(): waitForLock(); lock()
//	waitForLock()  subscribe to beforePath; if it exists, wait for its deletion; unsubscribe
//	unlock()       delete currentPath, and keep it in the field
//
// There is one lock, whatever its name. What is wrong with it stands in
// docs/published.md. The listing's session timeout, 1 s, is the run's TTL here;
// the object, one of a kind in its program, is one of a kind in its client.
func ZKImproveLock() lb.Impl { return zkImproveLock{} }

type zkImproveLock struct{}

func (zkImproveLock) Info() lb.Info {
	const source = "page 004, listing ZookeeperImproveLock"
	safe := func(fault, why string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe, lb.Stuck}, Reason: lb.Ghost, Source: source,
			Why: why + "; rarely a deletion is told between the second look and the latch, and is lost"}
	}
	left := func(fault string, outcomes ...lb.Outcome) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: outcomes, Reason: lb.Ghost,
			Why: "a node whose creation was answered on a connection that is gone belongs to nobody who knows, and stays for as long as the session does", Source: source}
	}
	return lb.Info{
		Name:       "published-004-zk-improvelock",
		Doc:        "ephemeral sequential nodes; the path of the first acquisition is kept for all others",
		Source:     source,
		Topologies: []string{"zookeeper", "zookeeper-3"},
		Requests:   []string{"size", "create", "children", "subscribe", "exists", "delete", "root", "make-root", "ping", "close"},
		Reads:      []string{"size", "children", "subscribe", "exists", "root"},
		Own:        []string{"ping"},
		Takes:      "create",
		Traits:     lb.Traits{Push: true, Session: true},
		Expect: compose.Untold(append(compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the client begins a new session when the old one has ended, and nobody tells the holder", Source: source},
			"pause-holder", "cut-holder", "pause@before-write"),
			safe("none", "whoever may not wait asks again and again until the queue is empty"),
			safe("kill-holder", "the node of the dead ends with its session"),
			left("reset-grant", lb.Stuck), left("lost-grant", lb.Safe, lb.Stuck), left("late-grant", lb.Safe, lb.Stuck),
			safe("lose-reply", "a node that is gone is no error when it is deleted again"),
			safe("reset-reply", "a node that is gone is no error when it is deleted again"),
			safe("cut-rejoin", "what is sent before the cut and arrives after it deletes no other node than its own"),
			safe("release-twice", "unlock deletes no other node than one that its own client has made"),
			safe("expire-waiter", "a client that waits begins a new session, and asks again until the queue is empty"),
		)...),
	}
}

func (zkImproveLock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := newZkClient(ctx, env)
	if err != nil {
		return nil, err
	}
	l := &improveLock{env: env, client: c}
	exists, err := c.exists(ctx, lb.Request{}, "root", lockPath)
	if err == nil && !exists {
		err = c.createPersistent(ctx, lb.Request{}, "make-root", lockPath)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("make %s: %w", lockPath, err)
	}
	return l, nil
}

const lockPath = "/lockbench-LOCK" // as lockbench's, where the listing has /LOCK

// improveLock has the fields of the listing.
type improveLock struct {
	env         *lb.Env
	client      *zkClient
	cdl         atomic.Pointer[countDownLatch]
	beforePath  string // the node before that of the current request
	currentPath string // the node of the current request, says the listing
}

func (l *improveLock) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Shared {
		return nil, lb.ErrUnsupported
	}
	if req.Try {
		got, err := l.tryLock(ctx, req)
		if err == nil && !got {
			err = lb.ErrHeld // its node stays in the queue, as published
		}
		if err != nil {
			return nil, err
		}
	} else if err := l.lock(ctx, req); err != nil {
		return nil, err
	}
	return l.env.Grant(req, 0, 0), nil
}

// tryLock prints its exceptions and answers false.
func (l *improveLock) tryLock(ctx context.Context, req lb.Request) (bool, error) {
	got, err := l.tryOnce(ctx, req)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && got, nil
}

func (l *improveLock) tryOnce(ctx context.Context, req lb.Request) (bool, error) {
	empty, err := l.noPathOrEmpty(ctx, req)
	if err != nil {
		return false, err
	}
	if empty {
		if l.currentPath, err = l.client.createEphemeralSequential(ctx, req, "create", lockPath+"/lock"); err != nil {
			return false, err
		}
	}
	children, err := l.client.getChildren(ctx, req, "children", lockPath)
	if err != nil {
		return false, err
	}
	slices.Sort(children)
	if len(children) == 0 {
		return false, errors.New("IndexOutOfBoundsException: get(0) of no children")
	}
	if realPath := lockPath + "/" + children[0]; l.currentPath == realPath {
		return true, nil
	}
	wz, found := slices.BinarySearch(children, l.currentPath[len(lockPath)+1:]) // substring(6)
	if !found {
		return false, errors.New("ArrayIndexOutOfBoundsException: currentPath is the node of an earlier request")
	}
	l.beforePath = lockPath + "/" + children[wz-1]
	return false, nil
}

// noPathOrEmpty is the condition under which a request makes a node of its own.
func (l *improveLock) noPathOrEmpty(ctx context.Context, req lb.Request) (bool, error) {
	if l.currentPath == "" {
		return true, nil
	}
	children, err := l.client.getChildren(ctx, req, "size", lockPath)
	return len(children) == 0, err
}

// lock calls itself until it has the lock, on a stack that grows meanwhile.
func (l *improveLock) lock(ctx context.Context, req lb.Request) error {
	got, err := l.tryLock(ctx, req)
	if err != nil || got {
		return err
	}
	if err := l.waitForLock(ctx, req); err != nil {
		return err
	}
	return l.lock(ctx, req)
}

func (l *improveLock) waitForLock(ctx context.Context, req lb.Request) error {
	if l.beforePath == "" {
		return errors.New("NullPointerException: beforePath")
	}
	handleDataDeleted := func() {
		if cdl := l.cdl.Load(); cdl != nil {
			cdl.countDown()
		}
	}
	unsubscribe, err := l.client.subscribeDataChanges(ctx, req, "subscribe", l.beforePath, handleDataDeleted)
	if err != nil {
		return err
	}
	defer unsubscribe()
	exists, err := l.client.exists(ctx, req, "exists", l.beforePath)
	if err != nil || !exists {
		return err
	}
	cdl := newCountDownLatch() // a deletion that was told before this is lost
	l.cdl.Store(cdl)
	return l.env.Wait(ctx, req, "watch", cdl.await)
}

// Release is unlock, which says nothing: ZkClient's delete answers false where
// there is no such node, and the listing does not look.
func (l *improveLock) Release(ctx context.Context, req lb.Request) error {
	if err := l.client.delete(ctx, req, "delete", l.currentPath); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return lb.ErrReleased
}

func (l *improveLock) Close() error {
	l.client.close()
	return nil
}
