package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// keeper keeps an etcd lease alive, from before the lock is granted until it is
// given back. It asks one by one, not by etcd's stream, because a renewal counts
// from the moment it was sent.
type keeper struct {
	id    clientv3.LeaseID
	lease *lb.Lease // etcd's; the lock's, too, once that is granted
	quiet *quiet
	stop  func()
}

func keep(env *lb.Env, etcd *clientv3.Client, req lb.Request, id clientv3.LeaseID, call lb.Reading) *keeper {
	k := &keeper{id: id, quiet: &quiet{Probe: env.Probe}}
	untold := *env
	untold.Probe = k.quiet
	k.lease = untold.Grant(req, 0, env.Validity(call))
	k.stop = compose.Renew(env, k.lease, func(ctx context.Context) error {
		_, err := etcd.KeepAliveOnce(For(ctx, req), id)
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return fmt.Errorf("%w: %w", lb.ErrLost, err)
		}
		return err
	})
	return k
}

var errEnded = errors.New("etcd: the lease ended before the lock was granted")

// hand makes the lease that of the granted lock, unless it is over by now.
func (k *keeper) hand(token uint64) (*lb.Lease, error) {
	if !k.lease.Valid() {
		return nil, errEnded
	}
	k.lease.Token = token
	k.quiet.granted.Store(true)
	return k.lease, nil
}

// granted reports whether the lock was granted, and not only asked for.
func (k *keeper) granted() bool { return k.quiet.granted.Load() }

// quiet keeps to itself what becomes of the lease before the lock is granted.
type quiet struct {
	lb.Probe
	granted atomic.Bool
}

func (q *quiet) Renewed(l *lb.Lease, call lb.Reading) {
	if q.Probe != nil && q.granted.Load() {
		q.Probe.Renewed(l, call)
	}
}

func (q *quiet) Lost(l *lb.Lease, why string) {
	if q.Probe != nil && q.granted.Load() {
		q.Probe.Lost(l, why)
	}
}
