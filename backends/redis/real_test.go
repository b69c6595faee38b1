package redis_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	goredis "github.com/redis/go-redis/v9"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestRealRedis(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := wiretest.NewRelay(t, redis.Language, labtest.Servers(t, "redis")[0].Endpoint()), t.Context()
	for _, protocol := range []int{2, 3} {
		c := goredis.NewClient(&goredis.Options{Addr: r.Addr, Protocol: protocol})
		key := fmt.Sprint("key", protocol)
		must(t, c.Ping(ctx).Err())
		r.Want(t, "")
		must(t, c.SetNX(ctx, key, 1, 0).Err(), c.SetNX(ctx, key, 1, 0).Err())
		r.Want(t, "set set =set =set!")
		must(t, c.Eval(ctx, "return {1, {redis.call('GET', KEYS[1])}}", []string{key}).Err())
		r.Want(t, "eval =eval")
		if err := c.EvalSha(ctx, strings.Repeat("0", 40), nil).Err(); err == nil {
			t.Error("there is no such script")
		}
		r.Want(t, "evalsha =evalsha!")
		_, err := c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			p.Incr(ctx, key)
			return p.Del(ctx, key).Err()
		})
		must(t, err)
		r.Want(t, "exec =exec")
		_, err = c.Pipelined(ctx, func(p goredis.Pipeliner) error {
			return errors.Join(p.HSet(ctx, key, "a", 1).Err(), p.HGetAll(ctx, key).Err())
		})
		must(t, err)
		r.Want(t, "hset hgetall =hset =hgetall")
		p := c.Subscribe(ctx, "a", "b")
		for range 2 {
			_, err = p.Receive(ctx)
			must(t, err)
		}
		must(t, c.Publish(ctx, "b", "hello").Err())
		_, err = p.ReceiveMessage(ctx)
		must(t, err, p.Unsubscribe(ctx))
		for range 2 {
			_, err = p.Receive(ctx)
			must(t, err)
		}
		r.Want(t, "subscribe publish unsubscribe =subscribe =publish =unsubscribe")
		must(t, p.Close(), c.Close())
	}
}
