package mutants

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// Leaving is a lock that leaves something behind with each grant, and is right otherwise.
func Leaving(of lb.Impl, what string, leave func(ctx context.Context, server, owner string) error) lb.Impl {
	return leaving{of, what, leave}
}

type leaving struct {
	lb.Impl
	what  string
	leave func(ctx context.Context, server, owner string) error
}

func (l leaving) Info() lb.Info {
	info := l.Impl.Info()
	info.Name, info.Expect = info.Name+"-leaves-"+l.what, nil
	return info
}

func (l leaving) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := l.Impl.Open(ctx, env)
	return leaver{c, l, env}, err
}

type leaver struct {
	lb.Client
	leaving
	env *lb.Env
}

func (c leaver) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.Client.Acquire(ctx, req)
	if err != nil {
		return lease, err
	}
	return lease, c.leave(context.WithoutCancel(ctx), c.env.Servers[0], req.Owner)
}
