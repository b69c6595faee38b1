package etcd

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/kept"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// byClock is noRecheck that is careful: when its wait is over it looks at its clock,
// whether its lease can have ended. So neither a pause nor a cut can hurt it. But a lease
// also ends when somebody revokes it, and that is no matter of time.
type byClock struct{ *leaseClient }

func (c byClock) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, before, err := c.enter(ctx, req)
	if t == nil {
		return nil, err
	}
	if err == nil {
		err = c.await(ctx, req, t, before)
	}
	end := t.Lease.Until()
	if err != nil && !errors.Is(err, kept.ErrEnded) || c.env.Clock.Mono() >= end {
		return nil, c.leave(ctx, req, errors.Join(err, kept.ErrEnded), c.Release)
	}
	lease := c.env.Grant(req, uint64(t.revision), end)
	t.Tell(lease)
	return lease, nil
}

// fromRevision watches from the revision that it has read, which the servers may have
// forgotten by then. Where it is deaf, nobody hears how the watch ends: a loop over its
// news is over, and who waits for a deletion waits for ever, at the head of the queue.
type fromRevision struct {
	*leaseClient
	deaf bool
}

func watchingFrom(name string, deaf bool) lb.Impl {
	return mutate(name, func(c *leaseClient) lb.Client { return fromRevision{c, deaf} })
}

func (c fromRevision) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, before, err := c.enter(ctx, req)
	if t == nil {
		return nil, err
	}
	for revision := t.revision; err == nil && before != ""; {
		if revision, err = c.awaitDelete(ctx, req, before, revision); err == nil {
			before, err = c.look(ctx, req, t, revision)
		}
	}
	if err == nil {
		var lease *lb.Lease
		if lease, err = t.Hand(uint64(t.revision)); err == nil {
			return lease, nil
		}
	}
	return nil, c.leave(ctx, req, err, c.Release)
}

// awaitDelete returns when the key, which was there at a revision, is gone, or perhaps is:
// and at which revision.
func (c fromRevision) awaitDelete(ctx context.Context, req lb.Request, key string, revision int64) (known int64, err error) {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	news := c.etcd.Watch(watching, key, clientv3.WithRev(revision+1), clientv3.WithFilterPut())
	err = c.env.Wait(ctx, req, "predecessor", func(ctx context.Context) error {
		for w := range news {
			known = w.Header.Revision
			switch {
			case len(w.Events) > 0:
				return nil
			case !c.deaf && errors.Is(w.Err(), rpctypes.ErrCompacted): // it may be gone since long ago
				known = w.CompactRevision
				return nil
			case !c.deaf && w.Err() != nil:
				return fmt.Errorf("etcd: watch %s: %w", key, w.Err())
			}
		}
		<-ctx.Done()
		return ctx.Err()
	})
	return known, err
}
