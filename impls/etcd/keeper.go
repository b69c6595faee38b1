package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// keeper keeps an etcd lease alive, from before the lock is granted until it is
// given back: one renewal every third of the TTL. It asks one by one, not by
// etcd's stream, because a renewal counts from the moment it was sent.
type keeper struct {
	id   clientv3.LeaseID
	env  *lb.Env
	etcd *clientv3.Client
	end  context.CancelFunc

	mu    sync.Mutex
	until lb.Instant
	gone  string    // why the lease is over, "" while it is not
	lease *lb.Lease // once the lock is granted
}

func keep(env *lb.Env, etcd *clientv3.Client, id clientv3.LeaseID, call lb.Instant) *keeper {
	ctx, end := context.WithCancel(context.Background())
	k := &keeper{id: id, env: env, etcd: etcd, end: end, until: env.Validity(call)}
	go k.run(ctx)
	return k
}

func (k *keeper) stop() { k.end() }

// hand makes the lease of the granted request, unless it is over by now.
func (k *keeper) hand(req lb.Request, token uint64) (*lb.Lease, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone != "" {
		return nil, fmt.Errorf("etcd: the lease ended while waiting: %s", k.gone)
	}
	k.lease = k.env.Grant(req, token, k.until)
	return k.lease, nil
}

// granted reports whether the lock was granted, and not only asked for.
func (k *keeper) granted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lease != nil
}

func (k *keeper) run(ctx context.Context) {
	for k.env.Clock.Sleep(ctx, k.env.TTL/3) == nil {
		call := k.env.Clock.Mono()
		err := k.once(ctx)
		switch {
		case err == nil:
			k.renewed(call)
		case errors.Is(err, rpctypes.ErrLeaseNotFound):
			k.lost("etcd does not know the lease any more")
			return
		case ctx.Err() == nil && k.env.Clock.Mono() >= k.until: // only this goroutine writes it
			k.lost("no renewal was confirmed before the lease's end")
			return
		}
	}
}

// once bounds a renewal by the time that is left until the next one.
func (k *keeper) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(k.env.TTL/3, 100*time.Millisecond))
	defer cancel()
	_, err := k.etcd.KeepAliveOnce(ctx, k.id)
	return err
}

func (k *keeper) renewed(call lb.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.until = k.env.Validity(call)
	if k.lease != nil {
		k.lease.Extend(call, k.until)
	}
}

func (k *keeper) lost(why string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = why
	if k.lease != nil {
		k.lease.Lose(why)
	}
}
