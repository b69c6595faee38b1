package redis

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// comparing is [SetPXGetDel] whose second request compares, too.
type comparing struct{ setPXLua }

func looksThenCompares() lb.Impl {
	return alone(mutate(SetPXGetDel(), "compares", func(s session) lb.Client { return comparing{setPXLua{s}} }))
}

func (c comparing) Release(ctx context.Context, req lb.Request) error {
	if err := c.look(ctx, req); err != nil {
		return err
	}
	_, err := c.run(ctx, c.rdb, req, "del", script{compareAndDelete, []string{req.Lock}, []any{req.Owner}}, released)
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
