package published

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// onRedis is a listing that was published for one Redis server.
type onRedis struct {
	info lb.Info
	open func(*lb.Env, *redis.Client) lb.Client
}

func (a onRedis) Info() lb.Info { return a.info }

func (a onRedis) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	nodes, err := redisconn.Dial(ctx, env)
	if err != nil {
		return nil, err
	}
	return lb.Again(lb.Exclusive(a.open(env, nodes[0]))), nil
}

// ask sends one command. What the listings say of drivers is nothing; theirs sends a
// command once.
func ask[T any](ctx context.Context, env *lb.Env, req lb.Request, name string, command func(context.Context) (T, error)) (v T, err error) {
	err = env.Send(ctx, req, name, func(ctx context.Context) (err error) {
		if v, err = redisconn.Ask(ctx, command); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	return v, err
}

// take is [ask] for a command that takes the lock or is refused: who was refused has
// not come to the step after it.
func take(ctx context.Context, env *lb.Env, req lb.Request, name string, command func(context.Context) (bool, error)) (bool, error) {
	taken, err := ask(ctx, env, req, name, func(ctx context.Context) (bool, error) {
		taken, err := command(ctx)
		if err == nil && !taken {
			err = lb.ErrHeld
		}
		return taken, err
	})
	if errors.Is(err, lb.ErrHeld) {
		return false, nil
	}
	return taken, err
}

// seconds is the TTL as the listings say it: whole seconds, rounded up.
func seconds(env *lb.Env) int64 { return int64((env.TTL + time.Second - 1) / time.Second) }
