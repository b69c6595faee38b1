package published

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// ZKDistributedLock is the listing "DistributedLock" of survey 002, line by line:
//
//	new DistributedLock(config, name)   a session of its own; make /locks
//	tryLock()      create /locks/name_lock_N; the lowest N holds; else waitNode is the one before
//	lock()         tryLock(), or else waitForLock(waitNode, sessionTimeout)
//	waitForLock()  exists(waitNode, watch); latch.await(time); return true
//	unlock()       delete my node; close the session
//
// What is wrong with it stands in docs/published.md. The listing's session
// timeout, and with it the longest wait, is a constant of 30 s; here that is the
// run's TTL, so that the two keep their proportion to the faults.
func ZKDistributedLock() lb.Impl { return zkDistributedLock{} }

type zkDistributedLock struct{}

func (zkDistributedLock) Info() lb.Info {
	const source = "survey 002, listing DistributedLock"
	broken := func(fault, why string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Why: why, Source: source}
	}
	return lb.Info{
		Name:       "published-002-zk-distributedlock",
		Doc:        "ephemeral sequential nodes; a wait that ends, however it ends, is taken for a grant",
		Source:     source + ` ("ZK lock Optimization")`,
		Topologies: []string{"zookeeper", "zookeeper-3"},
		Requests:   []string{"root", "make-root", "create", "children", "exists", "ping", "delete", "close"},
		Reads:      []string{"root", "children", "exists"},
		Own:        []string{"ping"},
		Takes:      "create",
		Traits:     lb.Traits{Push: true, Session: true},
		Expect: append(append(compose.Under(broken("", "whoever has waited for as long as a session may be silent takes the lock for its own, and some holders work for longer"),
			"pause-client", "slow-work", "client-clock", "client-clock:back", "lost-grant", "late-grant", "lose-reply",
			"cut-rejoin", "cut-leader", "cut-halves", "kill-leader", "pause-leader", "failover", "restart-server", "restart-empty",
			"server-clock", "server-clock:drift", "release-twice"),
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Safe},
				Why: "a neighbour's wait that the end of its connection ends is taken for a grant, if there is one who waits", Source: source}, "reset-grant", "reset-reply")...),
			lb.Expectation{Fault: "none", Outcomes: []lb.Outcome{lb.Safe, lb.Broken}, Source: source,
				Why: "nobody leaves the queue but a holder; but a wake-up that is lost, which is rare, makes all who wait time out"},
			lb.Expectation{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Source: source,
				Why: "waiters time out one after the other and all take that for a grant; in most runs two of them overlap"},
			broken("pause-holder", "waiters time out, and the frozen holder is told nothing"),
			broken("cut-holder", "waiters time out, and nothing tells the holder that its session has ended"),
			broken("expire-waiter", "a wait that the end of the session ends is taken for a grant"),
			broken("pause@before-write", "waiters time out, and the frozen holder is told nothing"),
		),
	}
}

func (zkDistributedLock) Open(_ context.Context, env *lb.Env) (lb.Client, error) {
	return &distributedLockClient{env: env}, nil
}

// distributedLockClient makes a new DistributedLock for each acquisition, since
// unlock closes it.
type distributedLockClient struct {
	env  *lb.Env
	held lb.Held[*distributedLock]
}

func (c *distributedLockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Shared {
		return nil, lb.ErrUnsupported
	}
	l := newDistributedLock(ctx, c.env, req)
	c.held.Put(req.Owner, l)
	if req.Try {
		got, err := l.tryLock(ctx)
		if err == nil && !got {
			err = lb.ErrHeld // its node stays in the queue, as published
		}
		if err != nil {
			return nil, err
		}
	} else if err := l.lock(ctx); err != nil {
		return nil, err
	}
	return c.env.Grant(req, 0, 0), nil
}

// Release is unlock, which never says anything.
func (c *distributedLockClient) Release(ctx context.Context, req lb.Request) error {
	l, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	return l.unlock(ctx)
}

func (c *distributedLockClient) Close() error {
	for _, l := range c.held.All() {
		if l.zk != nil {
			l.zk.Close()
		}
	}
	return nil
}

const (
	distributedLockRoot = "/lockbench-locks" // as lockbench's, where the listing has /locks
	splitStr            = "_lock_"
)

// distributedLock has the fields of the listing.
type distributedLock struct {
	env *lb.Env
	req lb.Request

	zk        *zksession.Session
	lockName  string
	waitNode  string
	myZnode   string
	latch     atomic.Pointer[countDownLatch]
	exception []error
}

// newDistributedLock keeps the errors of the constructor for lock, as published.
func newDistributedLock(ctx context.Context, env *lb.Env, req lb.Request) *distributedLock {
	l := &distributedLock{env: env, req: req, lockName: req.Lock}
	var err error
	if l.zk, err = zksession.OpenFor(ctx, env, req, l.process); err == nil {
		err = l.makeRoot(ctx)
	}
	if err != nil {
		l.exception = append(l.exception, err)
	}
	return l
}

func (l *distributedLock) makeRoot(ctx context.Context) error {
	exists, err := zksession.Do(ctx, l.zk, l.req, "root", func(z *zk.Conn) (bool, error) {
		exists, _, err := z.Exists(distributedLockRoot)
		return exists, err
	})
	if err == nil && !exists {
		_, err = zksession.Do(ctx, l.zk, l.req, "make-root", func(z *zk.Conn) (string, error) {
			return z.Create(distributedLockRoot, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll))
		})
	}
	return err
}

// process is the watcher of the session and of every watch: whatever the event
// is, it ends the wait.
func (l *distributedLock) process(ev zk.Event) {
	if ev.State == zk.StateConnecting || ev.State == zk.StateConnected {
		return // the Java client tells of a session, not of a connection
	}
	if latch := l.latch.Load(); latch != nil {
		latch.countDown()
	}
}

func (l *distributedLock) lock(ctx context.Context) error {
	if len(l.exception) > 0 {
		return lb.NoEffect(fmt.Errorf("LockException: %w", l.exception[0]))
	}
	got, err := l.tryLock(ctx)
	if err != nil || got {
		return err
	}
	_, err = l.waitForLock(ctx, l.waitNode, l.env.TTL) // the listing's sessionTimeout; its result is not looked at
	return err
}

func (l *distributedLock) tryLock(ctx context.Context) (bool, error) {
	if len(l.exception) > 0 && l.zk == nil {
		return false, lb.NoEffect(fmt.Errorf("NullPointerException: %w", l.exception[0]))
	}
	if strings.Contains(l.lockName, splitStr) {
		return false, lb.NoEffect(errors.New("LockException: lockName can not contains _lock_"))
	}
	created, err := zksession.Do(ctx, l.zk, l.req, "create", func(z *zk.Conn) (string, error) {
		return z.Create(distributedLockRoot+"/"+l.lockName+splitStr, nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	})
	if err != nil {
		return false, fmt.Errorf("LockException: %w", err)
	}
	l.myZnode = created
	subNodes, err := zksession.Do(ctx, l.zk, l.req, "children", func(z *zk.Conn) ([]string, error) {
		names, _, err := z.Children(distributedLockRoot)
		return names, err
	})
	if err != nil {
		return false, fmt.Errorf("LockException: %w", err)
	}
	var lockObjNodes []string
	for _, node := range subNodes {
		if strings.Split(node, splitStr)[0] == l.lockName {
			lockObjNodes = append(lockObjNodes, node)
		}
	}
	slices.Sort(lockObjNodes)
	if len(lockObjNodes) > 0 && l.myZnode == distributedLockRoot+"/"+lockObjNodes[0] {
		return true, nil
	}
	subMyZnode := l.myZnode[strings.LastIndex(l.myZnode, "/")+1:]
	i, found := slices.BinarySearch(lockObjNodes, subMyZnode)
	if !found {
		return false, errors.New("ArrayIndexOutOfBoundsException: my node is not in the queue")
	}
	l.waitNode = lockObjNodes[i-1]
	return false, nil
}

// waitForLock returns true when the node before is gone, when any event came in,
// and when the time is up.
func (l *distributedLock) waitForLock(ctx context.Context, lower string, wait time.Duration) (bool, error) {
	exists, err := zksession.Do(ctx, l.zk, l.req, "exists", func(z *zk.Conn) (bool, error) {
		exists, _, _, err := z.ExistsW(distributedLockRoot + "/" + lower)
		return exists, err
	})
	if err != nil {
		return false, fmt.Errorf("LockException: %w", err)
	}
	if exists {
		latch := newCountDownLatch() // an event that came before this is lost
		l.latch.Store(latch)
		if err := l.env.Wait(ctx, l.req, "watch", func(ctx context.Context) error {
			timed, cancel := l.env.WithTimeout(ctx, wait)
			defer cancel()
			_ = latch.await(timed) // whether it came to zero, nobody asks
			return ctx.Err()
		}); err != nil {
			return false, err
		}
		l.latch.Store(nil)
	}
	return true, nil
}

// unlock prints its exceptions, so that its caller never hears of them; and then
// the session is not closed.
func (l *distributedLock) unlock(ctx context.Context) error {
	if l.myZnode == "" {
		return errors.New("IllegalArgumentException: path cannot be null")
	}
	_, err := zksession.Do(ctx, l.zk, l.req, "delete", func(z *zk.Conn) (struct{}, error) {
		return struct{}{}, z.Delete(l.myZnode, -1)
	})
	if err == nil {
		l.myZnode = ""
		l.zk.Close()
	}
	if ctx.Err() != nil {
		return ctx.Err() // Java's delete would still be waiting
	}
	if errors.Is(err, lb.ErrNotSent) {
		return err
	}
	return lb.ErrReleased
}

// countDownLatch is Java's, of one count.
type countDownLatch struct {
	once sync.Once
	zero chan struct{}
}

func newCountDownLatch() *countDownLatch { return &countDownLatch{zero: make(chan struct{})} }

func (l *countDownLatch) countDown() { l.once.Do(func() { close(l.zero) }) }

// await returns nil at zero, and the error of ctx, which stands for the end of the
// time and for the interruption of the thread.
func (l *countDownLatch) await(ctx context.Context) error {
	select {
	case <-l.zero:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
