package etcd

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Election is leader election by etcd's own client library, used as a lock: who is elected holds
// it, and resigns to give it back.
//
//	Txn: if our key is not there, put it, bound to the session's lease
//	Get: who is the last before us? Watch its key until it is deleted; again, until there is none
//	Txn: if our key is still the one that we put, delete it
//
// After the wait it does not look whether its own key is still there, as the library's Mutex has done since
// etcd issue 11456: who waited while its session ended is told that it leads.
//
// The token is the create revision of the leader's key: the library's documentation has it for a
// fencing token (Election.Rev). It is drawn when the client stands in line, and the line is in its order.
func Election() lb.Impl { return electionImpl{} }

type electionImpl struct{}

func (electionImpl) Info() lb.Info {
	return lb.Info{
		Name:       "etcd-election",
		Doc:        "the client library's concurrency.Election as a lock: Campaign to take it, Resign to give it back",
		Source:     "go.etcd.io/etcd/client/v3/concurrency",
		Topologies: []string{"etcd", "etcd-3"},
		Requests:   []string{"txn", "get", "watch", "unwatch", "resign", "grant", "keep-alive", "revoke"},
		Reads:      []string{"get", "watch", "unwatch"},
		Own:        []string{"keep-alive"},
		Takes:      "txn",
		NoTry:      true,
		Traits:     lb.Traits{Fenced: true, Renewing: true, Push: true, Fair: true, Session: true, LostNotice: true},
		Expect:     electionExpect(),
	}
}

// electionExpect adds where a client may stand in line without a session.
func electionExpect() []lb.Expectation {
	all := compose.Except(ofLibrary("election.go of the library", "with the revision of the first, so that both have one token"), compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Fence, lb.Check, lb.Safe},
		Why: "a client whose session ends while it waits is told that it leads, since nobody looks whether its key is still there", Source: "etcd issues 11051 and 19597"},
		"expire-waiter", "expire-line", "cut-rejoin", "cut-leader", "cut-halves", "deaf-leader", "kill-leader", "kill-two")...)
	return compose.Except(all, compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Fence, lb.Check, lb.Safe},
		Why: "Resign forgets the key, whether it could delete it or not: its session has to be ended, under all that it holds", Source: "etcd issue 22123"},
		"lose-reply", "reset-reply", "slow-reply")...)
}

func (electionImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	return openRecipe(ctx, env, "resign", func(s *concurrency.Session, req lb.Request) recipe {
		return election{concurrency.NewElection(s, name(req.Lock))}
	})
}

type election struct{ *concurrency.Election }

func (e election) take(ctx context.Context, env *lb.Env, req lb.Request) error {
	if req.Try {
		return lb.ErrUnsupported
	}
	return env.Wait(ctx, req, "campaign", func(ctx context.Context) error { return e.Campaign(ctx, req.Owner) })
}

func (e election) token() uint64 { return uint64(e.Rev()) }

// none: the library forgets the key, whether it could delete it or not.
func (election) none() bool { return false }

func (e election) give(ctx context.Context) error { return e.Resign(ctx) }

// once: Resign does nothing when it is called again (etcd issue 22123).
func (election) once() bool { return true }

func (election) gave(reply any) bool {
	resigned, ok := reply.(*etcdserverpb.TxnResponse)
	return ok && resigned.Succeeded
}
