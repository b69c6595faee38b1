package etcd

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Mutex is the lock of etcd's own client library, as its users have it: one
// concurrency.Session a client, one concurrency.Mutex an acquisition.
//
//	Txn: if our key is not there, put it, bound to the session's lease; who is oldest?
//	     the oldest holds the lock; others watch their predecessor, then look again
//	Delete our key
//
// What it does not tell its users, and therefore not us, is how long a grant is
// good for: a holder relies on it until the session's Done, which closes at etcd's
// word, or when the library looks at its watch, once a second.
//
// The token is the revision of the reply that granted the lock. It is that of a
// later write than every grant before; but it is not the key's create revision,
// which a waiter gets long before its grant, and the two must not be mixed.
func Mutex() lb.Impl { return mutexImpl{} }

type mutexImpl struct{}

func (mutexImpl) Info() lb.Info {
	return lb.Info{
		Name:       "etcd-mutex",
		Doc:        "the client library's concurrency.Mutex: one transaction to lock, one delete to unlock",
		Source:     "go.etcd.io/etcd/client/v3/concurrency",
		Topologies: []string{"etcd", "etcd-3"},
		Requests:   []string{"txn", "get", "watch", "unwatch", "delete", "grant", "keep-alive", "revoke"},
		Reads:      []string{"get", "watch", "unwatch"},
		Own:        []string{"keep-alive"},
		Takes:      "txn",
		Traits:     lb.Traits{Fenced: true, Renewing: true, Push: true, Fair: true, Session: true, LostNotice: true},
		Expect:     ofLibrary("mutex.go of the library", "by a transaction that wrote nothing, so that the revision is no token"),
	}
}

func (mutexImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	return openRecipe(ctx, env, "delete", func(s *concurrency.Session, req lb.Request) recipe {
		return mutex{concurrency.NewMutex(s, name(req.Lock))}
	})
}

type mutex struct{ *concurrency.Mutex }

func (m mutex) take(ctx context.Context, env *lb.Env, req lb.Request) error {
	if req.Try {
		return m.TryLock(ctx)
	}
	return env.Wait(ctx, req, "lock", m.Lock)
}

func (m mutex) token() uint64 { return uint64(m.Header().Revision) }

// none: the library marks the key that it has deleted.
func (m mutex) none() bool {
	const deleted = "\x00"
	return m.Key() == deleted
}

// give unlocks. The library throws away whether there was a key to delete; it stands in etcd's reply.
func (m mutex) give(ctx context.Context) error { return m.Unlock(ctx) }

// once: a Mutex can be unlocked again.
func (mutex) once() bool { return false }

func (mutex) gave(reply any) bool {
	deleted, ok := reply.(*etcdserverpb.DeleteRangeResponse)
	return ok && deleted.Deleted > 0
}
