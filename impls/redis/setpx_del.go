package redis

import (
	"context"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// SetPXDel takes the lock as [SetPXLua] does, but gives it back by a plain DEL,
// whoever holds it by then:
//
//	SET lock owner NX PX ttl
//	DEL lock
//
// Source: the short form that many introductions to distributed locks print
// (for one, the preface of an etcd lock demo that shows it as the Redis way).
func SetPXDel() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-setpx-del",
			Doc:        "SET NX PX; release by a plain DEL",
			Source:     "common short form of the SET NX PX lock",
			Topologies: oneServer,
			Requests:   []string{"set", "del"},
			Takes:      "set",
			Traits:     lb.Traits{Leased: true},
			Expect:     lateDel(),
		},
		open: func(s session) lb.Client { return setPXDel{s} },
	}
}

// lateDel is what a release without owner check costs.
func lateDel() []lb.Expectation {
	const doc = `redis.io, "Distributed Locks with Redis"`
	return compose.Except(compose.InRedis(compose.OnReplica(compose.OnWallClock(compose.Lease()))), append(slices.Concat(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
			Why: "a DEL that is sent again, or arrives late, frees the lock of the next one, if somebody has it by then", Source: doc},
			"lost-grant", "late-grant", "lose-reply", "reset-grant", "reset-reply", "slow-reply", "cut-rejoin"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Broken},
			Why: "whose request was cut off cleans up with a DEL, and that is perhaps the lock of another", Source: doc}, compose.EndingConnections()...),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check},
			Why: "the late DEL frees the next one's lock, unless TCP delivers it while nobody holds it", Source: doc}, "cut-holder", "one-way-cut")),
		lb.Expectation{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the late holder's DEL frees the lock of the next one", Source: doc},
		lb.Expectation{Fault: "slow-work", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "whoever works for longer than the lease frees the lock of the next one", Source: doc},
		lb.Expectation{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Broken},
			Why: "late write and late DEL", Source: doc},
		lb.Expectation{Fault: "release-twice", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the second DEL frees the lock of the one who has it by then", Source: doc},
	)...)
}

type setPXDel struct{ session }

func (c setPXDel) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		return c.setPX(ctx, req)
	})
}

func (c setPXDel) Release(ctx context.Context, req lb.Request) error { return c.releaseAny(ctx, req) }

// releaseAny deletes the key without a look at whose it is.
func (s session) releaseAny(ctx context.Context, req lb.Request) error {
	_, err := ask(ctx, s, req, "del", func(ctx context.Context) (int64, error) {
		return s.rdb.Del(ctx, req.Lock).Result()
	}, released)
	return err
}
