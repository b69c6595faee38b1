package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// keeper keeps an etcd lease alive, from before the lock is granted until it is
// given back, and from one acquisition to the next. It asks one by one, not by etcd's
// stream, because a renewal counts from the moment it was sent.
type keeper struct {
	env    *lb.Env
	id     clientv3.LeaseID
	lease  *lb.Lease // etcd's
	stop   func()
	serves atomic.Pointer[lb.Request] // the acquisition that the lease is for; nil for none
	lock   atomic.Pointer[lb.Lease]   // of the lock; nil before it is granted
}

func keep(env *lb.Env, etcd *clientv3.Client, id clientv3.LeaseID, call lb.Reading) *keeper {
	k := &keeper{env: env, id: id}
	untold := *env
	untold.Probe = passedOn{told(env), k}
	k.lease = untold.Grant(lb.Request{}, 0, env.Validity(call))
	k.stop = k.lease.Renew(func(ctx context.Context) error {
		var req lb.Request
		if serves := k.serves.Load(); serves != nil {
			req = *serves
		}
		_, err := etcd.KeepAliveOnce(For(ctx, req), id)
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return fmt.Errorf("%w: %w", lb.ErrLost, err)
		}
		return err
	})
	return k
}

// serve begins an acquisition, and ends the one before.
func (k *keeper) serve(req *lb.Request) {
	k.lock.Store(nil)
	k.serves.Store(req)
}

var errEnded = errors.New("etcd: the lease ended before the lock was granted")

// hand makes the lease of the granted lock, unless etcd's is over by now. From then on
// what becomes of that becomes of it.
func (k *keeper) hand(token uint64) (*lb.Lease, error) {
	if !k.lease.Valid() {
		return nil, errEnded
	}
	lock := k.env.Grant(*k.serves.Load(), token, k.lease.Until())
	k.lock.Store(lock)
	select {
	case <-k.lease.Lost(): // and perhaps nobody has told the lock
		lock.Lose("the lease ended as the lock was granted")
	default:
	}
	return lock, nil
}

// granted reports whether the lock was granted, and not only asked for.
func (k *keeper) granted() bool { return k.lock.Load() != nil }

// endedByItself reports whether etcd's lease is over for want of renewals, and not because it
// was found to be gone before its end.
func (k *keeper) endedByItself() bool {
	select {
	case <-k.lease.Lost():
		return false
	default:
		return !k.lease.Valid()
	}
}

// told is whom the client tells of what it does: perhaps nobody.
func told(env *lb.Env) lb.Probe {
	if env.Probe == nil {
		return nobody{}
	}
	return env.Probe
}

type nobody struct{}

func (nobody) Step(context.Context, lb.Move) error         { return nil }
func (nobody) Wait(context.Context, lb.Move) (done func()) { return func() {} }
func (nobody) Go(lb.Actor) (end func())                    { return func() {} }
func (nobody) Renewed(*lb.Lease, lb.Reading)               {}
func (nobody) Lost(*lb.Lease, string)                      {}

// passedOn tells of a lock's lease what becomes of etcd's, and of nothing else.
type passedOn struct {
	lb.Probe
	k *keeper
}

func (p passedOn) Renewed(l *lb.Lease, call lb.Reading) {
	if lock := p.k.lock.Load(); lock != nil {
		lock.Extend(call, l.Until())
	}
}

func (p passedOn) Lost(_ *lb.Lease, why string) {
	if lock := p.k.lock.Load(); lock != nil {
		lock.Lose(why)
	}
}
