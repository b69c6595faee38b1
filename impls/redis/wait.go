package redis

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// Wait is [SetPXLua] that asks, before it takes the lock for granted, whether a majority of the servers
// has it:
//
//	SET lock owner NX PX ttl
//	WAIT replicas timeout                                on the same connection
//	if too few, or too late: compare-and-delete, and the lock is not granted
//	if GET lock = owner then DEL lock        (atomically, in Lua)
//
// What it keeps is a grant that dies with its master alone. It is no quorum: nobody asks the replicas
// whether they follow this master still, and the one that is promoted need not be one that had the key.
//
// Source: redis.io, "WAIT", which says that it makes a loss less likely, and Redis no strongly consistent store.
func Wait() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-wait",
			Doc:        "redis-setpx-lua, which takes a lock for granted when WAIT says that a majority of the servers has it",
			Source:     `redis.io, "WAIT"`,
			Topologies: []string{"redis-sentinel"},
			Requests:   []string{"set", "wait", "compare-and-delete"},
			Reads:      []string{"wait"},
			Takes:      "wait",
			Scripts:    true,
			Copied:     true,
			Traits:     lb.Traits{Leased: true},
			Expect:     compose.InRedis(compose.OnReplica(compose.OnWallClock(compose.Lease()))),
		},
		open: func(s session) lb.Client { return waits{s, len(s.env.Servers) / 2} },
	}
}

type waits struct {
	session
	replicas int // that make a majority with the master
}

func (c waits) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		return c.try(ctx, req)
	})
}

// try has a connection to itself: WAIT is about what was written on its own.
func (c waits) try(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	one := c.nodes[0].Conn()
	defer one.Close()
	sent, err := ask(ctx, c.session, req, "set", func(ctx context.Context) (bool, error) {
		return one.SetNX(ctx, req.Lock, req.Owner, c.env.TTL).Result()
	}, taken)
	if err != nil {
		return nil, redisconn.Refused(err)
	}
	var have int64
	if _, err := ask(ctx, c.session, req, "wait", func(ctx context.Context) (int64, error) {
		return one.Wait(ctx, c.replicas, c.env.TTL/10).Result()
	}, func(n int64) error {
		have = n
		return nil
	}); err != nil {
		return nil, err
	}
	if until := c.env.Validity(sent); have >= int64(c.replicas) && c.env.Clock.Mono() < until {
		return c.env.Grant(req, 0, until), nil
	}
	return nil, c.giveUp(ctx, one, req, have)
}

// giveUp takes back what too few servers have, or had too late. It does not end with ctx: the caller may have given up.
// one is the connection that wrote: by another it would perhaps be another master's.
func (c waits) giveUp(ctx context.Context, one *redis.Conn, req lb.Request, have int64) error {
	ctx, cancel := c.env.Detached(ctx)
	defer cancel()
	few := fmt.Errorf("redis: %d replicas said in time that they have the lock, of the %d that it takes", have, c.replicas)
	if _, err := c.run(ctx, one, req, "compare-and-delete", owned(req), released); err != nil && !errors.Is(err, lb.ErrLost) {
		return fmt.Errorf("%w; give it back: %v", few, err)
	}
	return lb.NoEffect(few)
}

func (c waits) Release(ctx context.Context, req lb.Request) error { return c.releaseOwn(ctx, req) }
