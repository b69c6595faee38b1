package published

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
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
	return compose.Exclusive(a.open(env, nodes[0])), nil
}

// seconds is the TTL as the listings say it: whole seconds, rounded up.
func seconds(env *lb.Env) int64 { return int64((env.TTL + time.Second - 1) / time.Second) }
