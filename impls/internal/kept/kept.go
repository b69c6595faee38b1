// Package kept keeps what a lock ends with alive at a server, a lease of etcd or a session of Consul, from before the
// lock is granted until it is given back, and from one acquisition to the next.
package kept

import (
	"context"
	"errors"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
)

// Keeper keeps one alive. A renewal counts from the moment it was sent.
type Keeper struct {
	// Lease is the server's.
	Lease *lb.Lease
	// Stop ends the renewals.
	Stop func()

	env    *lb.Env
	serves atomic.Pointer[lb.Request] // the acquisition that it is for; nil for none
	lock   atomic.Pointer[lb.Lease]   // of the lock; nil before it is granted
}

// Keep renews what was asked for at call, for the acquisition that it serves by then: the zero one where it serves
// none. [lb.ErrLost] of a renewal says that the server has ended it.
func Keep(env *lb.Env, call lb.Reading, renew func(context.Context, lb.Request) error) *Keeper {
	k := &Keeper{env: env}
	untold := *env
	untold.Probe = passedOn{told(env), k}
	k.Lease = untold.Grant(lb.Request{}, 0, env.Validity(call))
	k.Stop = k.Lease.Renew(func(ctx context.Context) error {
		var req lb.Request
		if serves := k.serves.Load(); serves != nil {
			req = *serves
		}
		return renew(ctx, req)
	})
	return k
}

// Serve begins an acquisition, and ends the one before.
func (k *Keeper) Serve(req *lb.Request) {
	k.lock.Store(nil)
	k.serves.Store(req)
}

// ErrEnded is a lock that came too late.
var ErrEnded = errors.New("the lease ended before the lock was granted")

// Hand makes the lease of the granted lock, unless the server's is over by now. From then on
// what becomes of that becomes of it.
func (k *Keeper) Hand(token uint64) (*lb.Lease, error) {
	if !k.Lease.Valid() {
		return nil, ErrEnded
	}
	lock := k.env.Grant(*k.serves.Load(), token, k.Lease.Until())
	k.Tell(lock)
	select {
	case <-k.Lease.Lost(): // and perhaps nobody has told the lock
		lock.Lose("the lease ended as the lock was granted")
	default:
	}
	return lock, nil
}

// Tell tells a lock's lease from now on what becomes of the server's.
func (k *Keeper) Tell(lock *lb.Lease) { k.lock.Store(lock) }

// Granted reports whether the lock was granted, and not only asked for.
func (k *Keeper) Granted() bool { return k.lock.Load() != nil }

// EndedByItself reports whether the server's lease is over for want of renewals, and not because it
// was found to be gone before its end.
func (k *Keeper) EndedByItself() bool {
	select {
	case <-k.Lease.Lost():
		return false
	default:
		return !k.Lease.Valid()
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

// passedOn tells of a lock's lease what becomes of the server's, and of nothing else.
type passedOn struct {
	lb.Probe
	k *Keeper
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
