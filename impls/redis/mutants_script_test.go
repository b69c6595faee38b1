package redis

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// loaded sends its release by the digest alone: the script is loaded whenever a connection
// is made, so the server knows it. Until somebody empties the cache of scripts.
type loaded struct {
	*watchdog
	swallows bool // an error that the server answers
}

func loading(how string, swallows bool) lb.Impl {
	return onOneServer(Watchdog(), how, func(o *redis.Options) {
		o.OnConnect = func(ctx context.Context, c *redis.Conn) error { return watchdogRelease.Load(ctx, c).Err() }
	}, func(s session) lb.Client {
		return loaded{&watchdog{renewed{listener: listener{session: s}}}, swallows}
	})
}

// Release, where it swallows, logs what the server has answered and goes on, since the
// lease will end by itself; but the renewals end only with a release that succeeded, and
// so the lock is nobody's for ever.
func (c loaded) Release(ctx context.Context, req lb.Request) error {
	if !c.swallows {
		return c.watchdog.Release(ctx, req)
	}
	_, err := ask(ctx, c.session, req, "release", func(ctx context.Context) (int64, error) {
		return watchdogRelease.EvalSha(ctx, c.rdb, []string{req.Lock}, req.Owner, freed(req.Lock)).Int64()
	}, released)
	var said redis.Error
	switch {
	case errors.As(err, &said):
		return nil
	case lb.AnswerOf(err) != lb.AnswerUnknown:
		c.renewals.letGo(req.Owner)
	}
	return err
}

// scripted takes the lock by a script, with call or pcall.
type scripted struct {
	setPXLua
	acquire *redis.Script
}

// setBy is the script. What pcall returns in place of an error is a table, and so as true
// as the status of a SET that has succeeded.
func setBy(how, call string) lb.Impl {
	set := redis.NewScript(fmt.Sprintf(`if redis.%s("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end return 0`, call))
	return alone(mutate(SetPXLua(), how, func(s session) lb.Client { return scripted{setPXLua{s}, set} }))
}

func (c scripted) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	set := script{c.acquire, []string{req.Lock}, []any{req.Owner, c.env.TTL.Milliseconds()}}
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		sent, err := c.run(ctx, c.rdb, req, "set", set, func(n int64) error { return taken(n == 1) })
		if err != nil {
			return nil, redisconn.Refused(err)
		}
		return c.env.Grant(req, 0, c.env.Validity(sent)), nil
	})
}
