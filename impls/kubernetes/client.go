//go:build apiserver

package kubernetes

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/kubernetes"
)

func (lease) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("kubernetes: the run has no server")
	}
	klog.SetLogger(klog.Logger{}) // which writes nothing
	c := &client{env: env, way: newWay(env)}
	if err := c.connect(ctx); err != nil {
		return nil, fmt.Errorf("kubernetes: connect to %v: %w", env.Servers, err)
	}
	return lb.Again(lb.Exclusive(c)), nil
}

type client struct {
	env  *lb.Env
	way  *way
	held lb.Held[*election]
}

// Acquire implements [lb.Client].
func (c *client) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Try {
		return nil, lb.ErrUnsupported
	}
	e, err := c.begin(req)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	c.held.Put(req.Owner, e)
	go e.run()
	if err := c.env.Wait(ctx, req, "lead", e.awaitLead); err == nil {
		return e.lease, nil
	}
	e.cancel()
	select {
	case <-e.led: // just now: the library gives it back
	case <-e.done:
		if !e.unsure.Load() {
			c.held.Drop(req.Owner)
			return nil, lb.NoEffect(ctx.Err())
		}
	}
	return nil, fmt.Errorf("kubernetes: lead: %w", ctx.Err())
}

// begin makes an elector, with a client of its own, so that each request is known to be for this acquisition.
func (c *client) begin(req lb.Request) (*election, error) {
	const longest, renew, retry = 15, 10, 2 // the library's defaults, in seconds
	whole := (c.env.TTL + time.Second - 1).Truncate(time.Second)
	e := &election{env: c.env, way: c.way, req: req, led: make(chan struct{}), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	deadline := whole * renew / longest
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, backend.Namespace, name(req.Lock),
		resourcelock.ResourceLockConfig{Identity: req.Owner},
		&rest.Config{Host: host, Transport: e,
			QPS:           -1,                                                  // no waits of the client's own between requests
			ContentConfig: rest.ContentConfig{ContentType: "application/json"}, // and no protobuf, in which nobody on the wire reads who holds the Lease
		}, deadline)
	if err != nil {
		return nil, err
	}
	e.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: whole, RenewDeadline: deadline, RetryPeriod: whole * retry / longest, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: e.lead, OnStoppedLeading: func() {}},
	})
	return e, err
}

// name is that of a lock's Lease, which has to be a name of DNS.
func name(lock string) string { return fmt.Sprintf("%s-%x", lb.Prefix, sha256.Sum256([]byte(lock))) }

// Release implements [lb.Client]. What the library could not give back, or has not heard that it was granted, it does nothing
// more about, and tells nobody, but by whom it takes for the leader: that Lease is over by the clocks of those who wait.
func (c *client) Release(ctx context.Context, req lb.Request) error {
	e, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	led, lost := e.state()
	e.cancel()
	if err := e.await(ctx); err != nil {
		return fmt.Errorf("kubernetes: release: %w", err)
	}
	leader := e.elector.GetLeader()
	if (!led || leader == req.Owner) && !e.failed {
		e.failed = true
		return errors.New("kubernetes: release: the library has not given the lock back")
	}
	c.held.Drop(req.Owner)
	switch {
	case e.failed:
		return lb.ErrReleased
	case leader != "", lost, !e.gave.Load(): // it may have found that nobody holds it, and then there is nothing to give back
		return lb.ErrLost
	}
	return nil
}

// Close implements [lb.Client]. What is held is given back.
func (c *client) Close() error {
	ctx, cancel := c.env.Detached(context.Background())
	defer cancel()
	for _, e := range c.held.All() {
		e.cancel()
	}
	for _, e := range c.held.All() {
		_ = e.await(ctx) // else its Lease is over by itself
	}
	c.way.CloseIdleConnections()
	return nil
}
