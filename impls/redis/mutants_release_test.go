package redis

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// looking releases in two requests: it looks whether the key is its own, and then deletes it. A
// client that stands between the two for longer than its lease deletes what is another's by then, unless
// the second request compares, too.
type looking struct {
	setPXLua
	del *redis.Script
}

// deleted deletes whoever's key it is.
var deleted = redis.NewScript(`return redis.call("del", KEYS[1])`)

func lookingAtRelease(how string, del *redis.Script) lb.Impl {
	of := mutate(SetPXLua(), how, func(s session) lb.Client { return looking{setPXLua{s}, del} }).(algorithm)
	of.info.Requests, of.info.Reads = []string{"set", "get", "del"}, []string{"get"}
	return alone(of)
}

func (c looking) Release(ctx context.Context, req lb.Request) error {
	if _, err := ask(ctx, c.session, req, "get", func(ctx context.Context) (string, error) {
		return c.rdb.Get(ctx, req.Lock).Result()
	}, func(owner string) error {
		if owner != req.Owner {
			return lb.ErrLost
		}
		return nil
	}); errors.Is(err, redis.Nil) {
		return lb.ErrLost
	} else if err != nil {
		return err
	}
	_, err := c.run(ctx, c.rdb, req, "del", script{c.del, []string{req.Lock}, []any{req.Owner}}, released)
	return err
}

// countingDown is [Reentrant] as Redisson has it: a release counts down by one. Sent again after a
// lost reply it takes away what the client still holds.
type countingDown struct{ *reentrant }

var countDown = redis.NewScript(`if redis.call("hexists", KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call("hincrby", KEYS[1], ARGV[1], -1) > 0 then return 1 end
redis.call("del", KEYS[1])
redis.call("publish", ARGV[2], ARGV[1])
return 1`)

func countsDown() lb.Impl {
	return alone(mutate(Reentrant(), "counts-down", func(s session) lb.Client {
		return countingDown{newReentrant(s)}
	}))
}

func (c countingDown) Release(ctx context.Context, req lb.Request) error {
	if _, ok := c.mine[req.Lock][req.Owner]; !ok {
		return lb.ErrLost
	}
	err := c.release(ctx, req, script{countDown, []string{req.Lock}, []any{c.me, freed(req.Lock)}})
	if lb.AnswerOf(err) != lb.AnswerUnknown {
		c.forget(req)
	}
	return err
}
