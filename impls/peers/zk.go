package peers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// ZKLock is the lock of the library github.com/go-zookeeper/zk:
//
//	conn, events, err := zk.Connect(servers, timeout)
//	l := zk.NewLock(conn, path, acl)
//	l.Lock()
//	l.Unlock()
//
// It has neither a try nor a wait that can be ended, no token, and does not say
// for how long it is good. What a careful user can do is done here: to take the
// event of an expired session for the loss of the lock. It comes late, since only
// a client that has reconnected hears it.
func ZKLock() lb.Impl { return zkLock{} }

type zkLock struct{}

func (zkLock) Info() lb.Info {
	const source = "go-zookeeper/zk 1.0.4, lock.go"
	safe := func(fault, why string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Safe}, Why: why, Source: source}
	}
	broken := func(fault string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the lock gives no bound, and a holder hears of its session's end only after it has reconnected", Source: source}
	}
	return lb.Info{
		Name:       "peer-zk-lock",
		Doc:        "zk.Lock of go-zookeeper: ephemeral sequential nodes, watch the predecessor",
		Source:     source,
		Topologies: []string{"zookeeper", "zookeeper-3"},
		Steps: []string{"before-create", "after-create", "before-children", "after-children", "before-get", "after-get",
			"before-delete", "after-delete"},
		Traits: lb.Traits{Push: true, Fair: true},
		Expect: []lb.Expectation{
			safe("none", "the queue is right"),
			safe("kill-holder", "the node of the dead ends with its session"),
			broken("pause-holder"), broken("cut-holder"), broken("pause-at:before-write"),
		},
	}
}

func (zkLock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c := &zkLockClient{env: env}
	begun := make(chan struct{}, 1)
	conn, _, err := zk.Connect(env.Servers, env.TTL, zk.WithLogger(quiet{}), zk.WithDialer(c.dial), zk.WithEventCallback(func(ev zk.Event) {
		switch ev.State {
		case zk.StateHasSession:
			select {
			case begun <- struct{}{}:
			default:
			}
		case zk.StateExpired:
			c.expired()
		}
	}))
	if err != nil {
		return nil, fmt.Errorf("peers: zk: %w", err)
	}
	c.conn = conn
	select {
	case <-begun:
		return c, nil
	case <-ctx.Done():
		go conn.Close() // waits for a server that does not answer
		return nil, fmt.Errorf("peers: zk: connect to %v: %w", env.Servers, ctx.Err())
	}
}

type zkLockClient struct {
	env  *lb.Env
	conn *zk.Conn
	req  atomic.Pointer[lb.Request] // the latest, for the steps
	held compose.Held[*zkAttempt]
}

// zkAttempt is one zk.Lock, and its Lock that may go on after nobody wants it.
type zkAttempt struct {
	lock  *zk.Lock
	done  chan struct{} // closed at the end of Lock
	err   error         // its error
	lease *lb.Lease
}

func (c *zkLockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Try || req.Shared {
		return nil, lb.ErrUnsupported
	}
	c.req.Store(&req)
	a := &zkAttempt{done: make(chan struct{}),
		lock: zk.NewLock(c.conn, "/peer/_"+url.PathEscape(req.Lock), zk.WorldACL(zk.PermAll))}
	a.lease = c.env.Grant(req, 0, 0)
	c.held.Put(req.Owner, a)
	go func() {
		a.err = a.lock.Lock()
		close(a.done)
	}()
	if err := c.env.Wait(ctx, "lock", req, a.await); err != nil {
		return nil, fmt.Errorf("peers: zk: lock: %w", err)
	}
	return a.lease, nil
}

func (a *zkAttempt) await(ctx context.Context) error {
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release first waits for a Lock that was given up, since nothing else ends it.
func (c *zkLockClient) Release(ctx context.Context, req lb.Request) error {
	a, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if err := a.await(ctx); err != nil {
		return fmt.Errorf("peers: zk: release: %w", err) // Lock may have left its node behind
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
	}
	return fmt.Errorf("peers: zk: unlock: %w", err)
}

func (c *zkLockClient) expired() {
	for _, a := range c.held.All() {
		a.lease.Lose("the session has expired")
	}
}

func (c *zkLockClient) Close() error {
	c.conn.Close()
	return nil
}

// quiet is the library's logger.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
