package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

// Redlock is [SetPXLua] on N independent masters, of which a majority must agree:
//
//  1. note the time;
//  2. SET lock owner NX PX ttl on all nodes at once, each with a timeout that is
//     small against the TTL;
//  3. the lock is ours if a majority said yes and ttl − elapsed − drift > 0, and
//     for that long;
//  4. else, and to release: compare-and-delete on all nodes, whatever they said;
//  5. try again after a random delay.
//
// Source: redis.io, "Distributed Locks with Redis", the Redlock algorithm.
func Redlock() lb.Impl {
	a := redlockOn("redis-5", "redlock",
		"SET NX PX on a majority of 5 independent masters; elapsed time and drift against the TTL", lb.Broken)
	a.info.ByTheBook = true
	return a
}

// RedlockRestartDelay is [Redlock] on nodes of which a crashed one stays away for
// longer than any lease, so that it can't grant again what it has forgotten. The
// clients do nothing else: it is the one who runs the servers that must delay the
// restart. Source: the same page, "Performance, crash recovery and fsync".
func RedlockRestartDelay() lb.Impl {
	return redlockOn("redis-5-delayed", "redlock-restart-delay",
		"redlock, where a crashed node stays down until every lease that it knew is over", lb.Safe)
}

// redlockOn takes what happens when a node of the majority comes back empty.
func redlockOn(topology, name, doc string, amnesia lb.Outcome) algorithm {
	return algorithm{
		info: lb.Info{
			Name:       name,
			Doc:        doc,
			Source:     `redis.io, "Distributed Locks with Redis", Redlock`,
			Topologies: []string{topology},
			Requests:   []string{"set", "compare-and-delete"},
			Takes:      "set",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true},
			Expect:     redlockExpect(compose.OnWallClock(compose.Lease()), amnesia),
		},
		open: func(s session) lb.Client { return newRedlock(s) },
	}
}

// redlockExpect are the expectations of a lease of such a kind on several masters.
func redlockExpect(lease []lb.Expectation, amnesia lb.Outcome) []lb.Expectation {
	const forgets = "a node that comes back empty votes twice, unless it stays down until its votes are over"
	all := compose.Except(compose.OnMasters(lease),
		lb.Expectation{Fault: "cut-two+restart-empty", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Why: forgets, Source: compose.Recovery},
		lb.Expectation{Fault: "cut-two+server-clock", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "a node whose clock jumps votes twice", Source: compose.Kleppmann},
		lb.Expectation{Fault: "client-clock:creep", Outcomes: []lb.Outcome{lb.Safe, lb.Check}, Reason: lb.Overstay,
			Why: "a hundredth of the lease is not used: that is its drift factor", Source: `redis.io, "Distributed Locks with Redis", on safety arguments`})
	if amnesia == lb.Broken {
		return all
	}
	return compose.Except(all, append(compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check},
		Why: "the node stays down until every lease that it knew is over", Source: compose.Recovery}, "restart-server", "kill-server"),
		lb.Expectation{Fault: "cut-two+restart-empty", Outcomes: []lb.Outcome{amnesia}, Why: forgets, Source: compose.Recovery},
		lb.Expectation{Fault: "rolling-restart", Outcomes: []lb.Outcome{lb.Safe},
			Why: "each node is back only when every lease that it knew is over", Source: compose.Recovery})...)
}

type redlock struct {
	session
	crew *crew // nil: the nodes are asked one after the other
}

func newRedlock(s session) redlock { return redlock{s, newCrew(s.nodes)} }

func (c redlock) Close() error {
	if c.crew != nil {
		c.crew.dismiss()
	}
	return c.session.Close()
}

func (c redlock) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		return c.try(ctx, req)
	})
}

func (c redlock) try(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	call := c.env.Clock.Mono()
	set := c.setAll(ctx, req)
	until := c.env.Validity(call)
	switch {
	case ctx.Err() == nil && set.yes >= c.quorum() && c.env.Clock.Mono() < until:
		return c.env.Grant(req, 0, until), nil
	case set.unsent == len(c.nodes):
		return nil, lb.NoEffect(set.err)
	}
	deleted := c.cleanUp(ctx, req)
	switch {
	case len(c.nodes)-deleted.yes-deleted.no >= c.quorum():
		// Our value may be left on a majority, and keep everybody out.
		return nil, fmt.Errorf("redlock: give back after a failed try: %w", errors.Join(ctx.Err(), set.err, deleted.err))
	case ctx.Err() != nil:
		return nil, lb.NoEffect(ctx.Err())
	case set.no == 0 && set.yes < c.quorum(): // nobody else was in the way
		return nil, lb.NoEffect(fmt.Errorf("redlock: no majority: %w", set.err))
	}
	return nil, lb.ErrHeld
}

// Release deletes on all nodes. This acquisition held the lock until now if it
// did so on a majority; if it can't have been a majority, it did not.
func (c redlock) Release(ctx context.Context, req lb.Request) error {
	deleted := c.deleteAll(ctx, req)
	switch {
	case deleted.yes >= c.quorum():
		return nil
	case len(c.nodes)-deleted.no < c.quorum():
		return lb.ErrLost
	case deleted.unsent == len(c.nodes):
		return fmt.Errorf("redlock: release: %w", deleted.err)
	}
	return fmt.Errorf("redlock: release: %v", deleted.err) // some were sent
}

func (c redlock) setAll(ctx context.Context, req lb.Request) tally {
	return c.onAll(ctx, func(ctx context.Context, rdb *redis.Client, v *vote) error {
		_, err := ask(ctx, c.session, req, "set", func(ctx context.Context) (bool, error) {
			return rdb.SetNX(ctx, req.Lock, req.Owner, c.env.TTL).Result()
		}, v.cast)
		return err
	})
}

func (c redlock) deleteAll(ctx context.Context, req lb.Request) tally {
	return c.onAll(ctx, func(ctx context.Context, rdb *redis.Client, v *vote) error {
		_, err := c.run(ctx, rdb, req, "compare-and-delete", owned(req), func(n int64) error { return v.cast(n == 1) })
		return err
	})
}

// cleanUp does not end with ctx: the caller may have given up, but what it has left on
// the nodes must go all the same.
func (c redlock) cleanUp(ctx context.Context, req lb.Request) tally {
	ctx, cancel := c.env.Detached(ctx)
	defer cancel()
	return c.deleteAll(ctx, req)
}

// vote is the answer of one node.
type vote struct{ yes, answered bool }

func (v *vote) cast(yes bool) error {
	v.yes, v.answered = yes, true
	return nil
}

// tally is how the nodes answered.
type tally struct {
	yes, no, unsent int
	err             error // of those that did not answer
}

// onAll sends a request to all nodes, at the same time or one after the other, and waits
// for all of them. Each has a short time to answer, so that a node that is down costs
// little of the lease: a twentieth of it, and where they are asked one after the other at most half a second.
func (c redlock) onAll(ctx context.Context, send func(context.Context, *redis.Client, *vote) error) (t tally) {
	const least = 50 * time.Millisecond // what a busy machine needs for a round trip
	votes, errs := make([]vote, len(c.nodes)), make([]error, len(c.nodes))
	one := func(ctx context.Context, i int, rdb *redis.Client) { errs[i] = send(lb.To(ctx, i+1), rdb, &votes[i]) }
	if c.crew == nil {
		for i, rdb := range c.nodes {
			ctx, cancel := c.env.WithTimeout(ctx, min(max(c.env.TTL/20, 2*least), 10*least))
			one(ctx, i, rdb)
			cancel()
		}
	} else {
		ctx, cancel := c.env.WithTimeout(ctx, max(c.env.TTL/20, least))
		defer cancel()
		c.crew.onAll(func(i int, rdb *redis.Client) { one(ctx, i, rdb) })
	}
	for i, v := range votes {
		switch {
		case v.yes:
			t.yes++
		case v.answered:
			t.no++
		default:
			t.err = errors.Join(t.err, errs[i])
			if errors.Is(errs[i], lb.ErrNotSent) {
				t.unsent++
			}
		}
	}
	return t
}

// quorum is the smallest majority of the nodes.
func (c redlock) quorum() int { return len(c.nodes)/2 + 1 }
