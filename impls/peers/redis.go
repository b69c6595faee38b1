package peers

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// onGoRedis is a library that locks through clients of go-redis.
type onGoRedis struct {
	info lb.Info
	open func(*lb.Env, []*redis.Client) lb.Client
}

func (p onGoRedis) Info() lb.Info { return p.info }

func (p onGoRedis) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	nodes, err := redisconn.Dial(ctx, env)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		n.AddHook(steps{env})
	}
	return compose.Exclusive(p.open(env, nodes)), nil
}

// steps makes a step before and after every command that a library sends for a
// request: "before-set", "after-set".
type steps struct{ env *lb.Env }

type requestKey struct{}

// serving says which request the commands under this context are for.
func serving(ctx context.Context, req lb.Request) context.Context {
	return context.WithValue(ctx, requestKey{}, req)
}

func served(ctx context.Context) (lb.Request, bool) {
	req, ok := ctx.Value(requestKey{}).(lb.Request)
	return req, ok
}

func (s steps) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		req, ok := served(ctx)
		if !ok {
			return next(ctx, cmd)
		}
		if err := s.env.Step(ctx, "before-"+cmd.Name(), req); err != nil {
			cmd.SetErr(err)
			return err
		}
		err := next(ctx, cmd)
		_ = s.env.Step(ctx, "after-"+cmd.Name(), req) // the library has its answer, whatever ends now
		return err
	}
}

func (steps) DialHook(next redis.DialHook) redis.DialHook { return next }
func (steps) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
