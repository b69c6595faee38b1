package published

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
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
	broken := func(fault string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the client begins a new session when the old one has ended, and nobody tells the holder", Source: source}
	}
	safe := func(fault, why string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe}, Why: why, Source: source}
	}
	return lb.Info{
		Name:       "published-004-zk-improvelock",
		Doc:        "ephemeral sequential nodes; the path of the first acquisition is kept for all others",
		Source:     source,
		Topologies: []string{"zookeeper", "zookeeper-3"},
		Steps: []string{"before-size", "after-size", "before-create", "after-create", "before-children", "after-children",
			"before-subscribe", "after-subscribe", "before-exists", "after-exists", "before-delete", "after-delete"},
		Traits: lb.Traits{Push: true},
		Expect: []lb.Expectation{
			safe("none", "whoever may not wait asks again and again until the queue is empty"),
			safe("kill-holder", "the node of the dead ends with its session"),
			broken("pause-holder"), broken("cut-holder"), broken("pause-at:before-write"),
		},
	}
}

func (zkImproveLock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := newZkClient(ctx, env)
	if err != nil {
		return nil, err
	}
	l := &improveLock{env: env, client: c}
	exists, err := c.exists(ctx, lockPath)
	if err == nil && !exists {
		err = c.createPersistent(ctx, lockPath)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("published: make %s: %w", lockPath, err)
	}
	return l, nil
}

const lockPath = "/LOCK"

// improveLock has the fields of the listing.
type improveLock struct {
	env     *lb.Env
	granted string // the owner of the request that was granted last

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
	l.granted = req.Owner
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
		if err := l.env.Step(ctx, "before-create", req); err != nil {
			return false, err
		}
		if l.currentPath, err = l.client.createEphemeralSequential(ctx, lockPath+"/lock"); err != nil {
			return false, err
		}
		if err := l.env.Step(ctx, "after-create", req); err != nil {
			return false, err
		}
	}
	if err := l.env.Step(ctx, "before-children", req); err != nil {
		return false, err
	}
	children, err := l.client.getChildren(ctx, lockPath)
	if err := errors.Join(err, l.env.Step(ctx, "after-children", req)); err != nil {
		return false, err
	}
	slices.Sort(children)
	if len(children) == 0 {
		return false, errors.New("IndexOutOfBoundsException: get(0) of no children")
	}
	if realPath := lockPath + "/" + children[0]; l.currentPath == realPath {
		return true, nil
	}
	wz, found := slices.BinarySearch(children, l.currentPath[len("/LOCK/"):]) // substring(6)
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
	if err := l.env.Step(ctx, "before-size", req); err != nil {
		return false, err
	}
	children, err := l.client.getChildren(ctx, lockPath)
	return len(children) == 0, errors.Join(err, l.env.Step(ctx, "after-size", req))
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
	if err := l.env.Step(ctx, "before-subscribe", req); err != nil {
		return err
	}
	unsubscribe, err := l.client.subscribeDataChanges(ctx, l.beforePath, handleDataDeleted)
	if err != nil {
		return err
	}
	defer unsubscribe()
	if err := errors.Join(l.env.Step(ctx, "after-subscribe", req), l.env.Step(ctx, "before-exists", req)); err != nil {
		return err
	}
	exists, err := l.client.exists(ctx, l.beforePath)
	if err := errors.Join(err, l.env.Step(ctx, "after-exists", req)); err != nil {
		return err
	}
	if !exists {
		return nil
	}
	cdl := newCountDownLatch() // a deletion that was told before this is lost
	l.cdl.Store(cdl)
	return l.env.Wait(ctx, "watch", req, func(ctx context.Context) error { return cdl.await(ctx, l.env.Clock, 0) })
}

// Release is unlock, which says nothing: ZkClient's delete answers false where
// there is no such node, and the listing does not look. What was granted is taken
// to have been held until then, and what was not, not.
func (l *improveLock) Release(ctx context.Context, req lb.Request) error {
	if err := l.env.Step(ctx, "before-delete", req); err != nil {
		return err
	}
	if err := l.client.delete(ctx, l.currentPath); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	if err := l.env.Step(ctx, "after-delete", req); err != nil {
		return err
	}
	if l.granted != req.Owner {
		return lb.ErrLost
	}
	return nil
}

func (l *improveLock) Close() error {
	l.client.close()
	return nil
}
