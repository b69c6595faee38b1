package etcd

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// leases is what the locks have in common whose acquisitions have an etcd lease each.
type leases struct {
	env  *lb.Env
	etcd *clientv3.Client
	held lb.Held[*ticket]
	free []*keeper // left by acquisitions that have ended
}

// ticket is one acquisition's place in the queue.
type ticket struct {
	*keeper
	key      string
	revision int64
	unsure   bool // whether etcd has, or will have, the key
}

// take begins an acquisition with a lease that another has left, or with a new one.
// Without a ticket there is nothing to clean up: a lease alone locks nothing and ends by
// itself.
func (c *leases) take(ctx context.Context, req lb.Request) (*ticket, error) {
	for len(c.free) > 0 {
		last := len(c.free) - 1
		k := c.free[last]
		c.free = c.free[:last]
		if k.Lease.Valid() {
			return c.begin(req, k), nil
		}
		k.Stop()
	}
	return c.grant(ctx, req)
}

// grant begins an acquisition with a new lease.
func (c *leases) grant(ctx context.Context, req lb.Request) (*ticket, error) {
	k, err := c.lease(ctx, req)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	return c.begin(req, k), nil
}

func (c *leases) begin(req lb.Request, k *keeper) *ticket {
	k.Serve(&req)
	t := &ticket{keeper: k}
	c.held.Put(req.Owner, t)
	return t
}

// lease asks for a lease and keeps it alive.
func (c *leases) lease(ctx context.Context, req lb.Request) (*keeper, error) {
	call := c.env.Clock.Mono()
	bounded, cancel := c.soon(ctx)
	defer cancel()
	granted, err := c.etcd.Grant(For(bounded, req), seconds(c.env))
	if err != nil {
		return nil, fmt.Errorf("etcd: grant a lease: %w", err)
	}
	return keep(c.env, c.etcd, granted.ID, call), nil
}

// leaveFree ends an acquisition whose lease can be used again.
func (c *leases) leaveFree(req lb.Request, t *ticket) {
	c.held.Drop(req.Owner)
	t.Serve(nil)
	c.free = append(c.free, t.keeper)
}

// soon bounds one request by a TTL: the client asks the servers in turn, and one
// that was cut off from the others would let it wait for much longer.
func (c *leases) soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.env.WithTimeout(ctx, c.env.TTL)
}

// leave gives up after err: our place in the queue must go, or the others would
// wait for us; and not by the context that may just have ended.
func (c *leases) leave(ctx context.Context, req lb.Request, err error, release func(context.Context, lb.Request) error) error {
	ctx, cancel := c.env.Detached(ctx)
	defer cancel()
	if e := release(ctx, req); lb.AnswerOf(e) == lb.AnswerUnknown {
		return fmt.Errorf("etcd: give up (%v): %w", err, e)
	}
	if errors.Is(err, lb.ErrHeld) {
		return err
	}
	return lb.NoEffect(err)
}

// revoke ends the lease, and with it the key. Only a lease that etcd still knew, of
// a lock that was granted, can have protected a holder until now. The library asks
// again by itself; that a lease is not known after the first time proves nothing.
func (c *leases) revoke(ctx context.Context, req lb.Request, t *ticket) error {
	t.Stop()
	revoke := &call{req: req}
	_, err := c.etcd.Revoke(revoke.in(ctx), t.id)
	unknown := errors.Is(err, rpctypes.ErrLeaseNotFound)
	if err != nil && !unknown {
		return fmt.Errorf("etcd: revoke the lease: %w", err)
	}
	c.held.Drop(req.Owner)
	switch {
	case !t.Granted():
		return lb.ErrLost
	case unknown && revoke.sent > 1:
		return lb.ErrReleased
	case unknown:
		return lb.ErrLost
	}
	return nil
}

// Close implements lb.Client.
func (c *leases) Close() error {
	for _, t := range c.held.All() {
		t.Stop()
	}
	for _, k := range c.free {
		k.Stop()
	}
	return c.etcd.Close()
}
