package main

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// tokenLock is SET NX PX, and a fencing token from INCR in the same script.
type tokenLock struct{}

var (
	take = redis.NewScript(`if redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[2]) then return redis.call("incr", KEYS[1] .. ":token") end return 0`)
	give = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)
)

func (tokenLock) Info() lb.Info {
	return lb.Info{
		Name:       "my-token-lock",
		Doc:        "SET NX PX and a token from INCR, in one script",
		Source:     "examples/lock.go",
		Topologies: []string{"redis", "redis-on-disk"},
		Requests:   []string{"take", "give"},
		Takes:      "take",
		Traits:     lb.Traits{Leased: true, Fenced: true},
		Expect: []lb.Expectation{
			{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}, Why: "nobody outlives the lease"},
			{Fault: "freeze-server", Outcomes: []lb.Outcome{lb.Safe}, Why: "who waits for half a lease still has the other half"},
			{Fault: "pause@before-write", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.Overstay, Why: "the store has seen a higher token"},
		},
	}
}

// Open connects one client. The driver must not retry by itself: a SET NX that is sent
// again after a lost reply would find its own value, and be told that the lock is taken.
func (tokenLock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c := client{env, redis.NewClient(&redis.Options{Addr: env.Servers[0], MaxRetries: -1, ReadTimeout: env.TTL, ContextTimeoutEnabled: true, DisableIdentity: true})}
	return lb.Exclusive(c), c.rdb.Ping(ctx).Err()
}

type client struct {
	env *lb.Env
	rdb *redis.Client
}

// ask sends one script, and returns what it answered and when it was sent.
func (c client) ask(ctx context.Context, req lb.Request, name string, script *redis.Script, args ...any) (n int64, sent lb.Reading, err error) {
	err = c.env.Send(ctx, req, name, func(ctx context.Context) (err error) {
		sent = c.env.Clock.Mono()
		n, err = script.Eval(ctx, c.rdb, []string{req.Lock}, args...).Int64()
		return err
	})
	return n, sent, err
}

func (c client) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		token, sent, err := c.ask(ctx, req, "take", take, req.Owner, c.env.TTL.Milliseconds())
		switch {
		case err != nil:
			return nil, lb.Unsent(err)
		case token == 0:
			return nil, lb.ErrHeld
		}
		return c.env.Grant(req, uint64(token), c.env.Validity(sent)), nil
	})
}

func (c client) Release(ctx context.Context, req lb.Request) error {
	n, _, err := c.ask(ctx, req, "give", give, req.Owner)
	if err == nil && n == 0 {
		return lb.ErrLost
	}
	return err
}

func (c client) Close() error { return c.rdb.Close() }
