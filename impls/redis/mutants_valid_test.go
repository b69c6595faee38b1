package redis

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// asked is redis-setpx-lua as a library whose users ask it before they write whether they hold the lock.
func asked(how string, valid func(ctx context.Context, c *validating, req lb.Request) (bool, error)) lb.Impl {
	return alsoSends("get", mutate(SetPXLua(), how, func(s session) lb.Client {
		return &validating{setPXLua: setPXLua{s}, valid: valid}
	}))
}

type validating struct {
	setPXLua
	valid func(ctx context.Context, c *validating, req lb.Request) (bool, error)
	held  lb.Held[bool]
}

func (c *validating) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.setPXLua.Acquire(ctx, req)
	if err == nil {
		c.held.Put(req.Owner, true)
	}
	return lease, err
}

func (c *validating) Release(ctx context.Context, req lb.Request) error {
	c.held.Drop(req.Owner)
	return c.setPXLua.Release(ctx, req)
}

func (c *validating) Valid(ctx context.Context, req lb.Request) (bool, error) {
	return c.valid(ctx, c, req)
}

// remembers says yes of whatever was acquired here and not yet given back.
func remembers(_ context.Context, c *validating, req lb.Request) (bool, error) {
	_, ok := c.held.Get(req.Owner)
	return ok, nil
}

// asks looks whose the key is.
func asks(ctx context.Context, c *validating, req lb.Request) (holds bool, err error) {
	_, err = ask(ctx, c.session, req, "get", func(ctx context.Context) (string, error) {
		return c.rdb.Get(ctx, req.Lock).Result()
	}, func(owner string) error {
		holds = owner == req.Owner
		return nil
	})
	return holds, err
}
