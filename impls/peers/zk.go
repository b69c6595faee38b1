package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// ZKLock is the lock of the library github.com/go-zookeeper/zk:
//
//	conn, events, err := zk.Connect(servers, timeout)
//	l := zk.NewLock(conn, path, acl)
//	l.Lock()
//	l.Unlock()
//
// It has neither a try nor a wait that can be ended, no token, does not say for how
// long it is good, and tells nobody that it is lost: when the session has ended, the
// connection begins another, and an Unlock that finds no node is the first to know.
func ZKLock() lb.Impl { return zkLock{} }

type zkLock struct{}

func (zkLock) Info() lb.Info {
	const source = "go-zookeeper/zk 1.0.4, lock.go"
	safe := func(fault, why string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe}, Why: why, Source: source}
	}
	return lb.Info{
		Name:       "peer-zk-lock",
		Doc:        "zk.Lock of go-zookeeper: ephemeral sequential nodes, watch the predecessor",
		Source:     source,
		Topologies: []string{"zookeeper", "zookeeper-3"},
		Requests:   []string{"create", "exists", "children", "get", "ping", "delete", "close"},
		Reads:      []string{"exists", "children", "get"},
		Own:        []string{"ping"},
		Takes:      "create",
		NoTry:      true,
		Traits:     lb.Traits{Push: true, Fair: true, Session: true},
		Expect: compose.Untold(append(compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the lock gives no bound, and nobody tells its holder that the session has ended", Source: source},
			"expire-holder", "expire-all", "pause-holder", "cut-holder", "pause@before-write"),
			safe("none", "the queue is right"),
			safe("kill-holder", "the node of the dead ends with its session"),
			safe("lost-grant", "a connection that is lost is looked for a node that was made, by its protected name"),
			safe("reset-grant", "a connection that is lost is looked for a node that was made, by its protected name"),
			safe("late-grant", "a connection that is silent is given up, and its late answer with it; a node that was made is found by its protected name"),
			safe("lose-reply", "the node is deleted, whether its client hears of it or not"),
			safe("reset-reply", "the node is deleted, whether its client hears of it or not"),
			safe("cut-rejoin", "what is sent before the cut and arrives after it deletes no other node than its own"),
			safe("release-twice", "the path of a node that was deleted is never given to another"),
			safe("expire-waiter", "the end of the session ends the watch with an error, which Lock returns"),
			lb.Expectation{Fault: "pause@after-create", Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Reason: lb.DoubleGrant,
				Why: "Lock does not look whether its node is still in the queue, and without it nobody is before it; if the library happens to write to the dead connection before it reads that it is dead, Lock fails instead", Source: source},
		)...),
	}
}

func (zkLock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c := &zkLockClient{env: env}
	begun := make(chan struct{}, 1)
	conn, _, err := zk.Connect(env.Servers, env.TTL, zk.WithLogger(quiet{}), zk.WithDialer(c.dial), zk.WithEventCallback(func(ev zk.Event) {
		if ev.State == zk.StateHasSession {
			select {
			case begun <- struct{}{}:
			default:
			}
		}
	}))
	if err != nil {
		return nil, fmt.Errorf("zk: %w", err)
	}
	c.conn = conn
	select {
	case <-begun:
		return lb.Again(c), nil
	case <-ctx.Done():
		go conn.Close() // waits for a server that does not answer
		return nil, fmt.Errorf("zk: connect to %v: %w", env.Servers, ctx.Err())
	}
}

type zkLockClient struct {
	env  *lb.Env
	conn *zk.Conn
	req  atomic.Pointer[lb.Request] // the latest, whom the library's requests serve
	held lb.Held[*zkAttempt]
}

// dial is the library's, with each request a step: those of a lock, and the pings.
func (c *zkLockClient) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return zksession.NewWire(zksession.Wire{Conn: conn, Env: c.env, For: c.serving,
		Passes: []string{"create", "delete", "exists", "get", "children", "ping", "close"}}), nil
}

func (c *zkLockClient) serving() lb.Request {
	if req := c.req.Load(); req != nil {
		return *req
	}
	return lb.Request{}
}

// zkAttempt is one zk.Lock, and its Lock that may go on after nobody wants it.
type zkAttempt struct {
	lock *zk.Lock
	locking
}

func (c *zkLockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Try || req.Shared {
		return nil, lb.ErrUnsupported
	}
	c.req.Store(&req)
	a := &zkAttempt{locking: locking{done: make(chan struct{})},
		lock: zk.NewLock(c.conn, "/lockbench-peer/_"+url.PathEscape(req.Lock), zk.WorldACL(zk.PermAll))}
	c.held.Put(req.Owner, a)
	go func() {
		a.err = a.lock.Lock()
		close(a.done)
	}()
	if err := c.env.Wait(ctx, req, "lock", a.await); err != nil {
		return nil, fmt.Errorf("zk: lock: %w", err)
	}
	return c.env.Grant(req, 0, 0), nil
}

// Release first waits for a Lock that was given up, since nothing else ends it.
func (c *zkLockClient) Release(ctx context.Context, req lb.Request) error {
	a, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if err := a.await(ctx); err != nil {
		return fmt.Errorf("zk: release: %w", err) // Lock may have left its node behind
	}
	c.req.Store(&req)
	unlocked := make(chan error, 1)
	go func() { unlocked <- a.lock.Unlock() }()
	var err error
	select {
	case err = <-unlocked:
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case err == nil:
		c.held.Drop(req.Owner)
		return nil
	case errors.Is(err, zk.ErrNoNode):
		c.held.Drop(req.Owner)
		return lb.ErrLost
	case errors.Is(err, zk.ErrSessionExpired): // and the node with it
		c.held.Drop(req.Owner)
		return lb.ErrReleased
	}
	return fmt.Errorf("zk: unlock: %w", err)
}

func (c *zkLockClient) Close() error {
	c.conn.Close()
	return nil
}

// quiet is the library's logger.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
