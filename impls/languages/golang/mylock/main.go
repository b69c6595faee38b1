// Command mylock is lockbench with a lock of your own beside its others.
//
//	go run . run --algorithm my-lock --fault pause-holder
package main

import (
	"context"
	"os"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/cli/stock"
	"github.com/redis/go-redis/v9"
)

func main() {
	bench := stock.Catalog()
	bench.Locks = append(bench.Locks, myLock{})
	os.Exit(cli.Main(os.Args[1:], bench))
}

type myLock struct{}

// Info says what the lock is. Each of Requests goes through Env.Send, so that faults can strike before and
// after it; go run . conform --algorithm my-lock finds one that is missing.
func (myLock) Info() lb.Info {
	return lb.Info{
		Name: "my-lock", Doc: "SET NX PX, and DEL if it is still ours", Source: "you",
		Topologies: []string{"redis"}, Requests: []string{"set", "del"}, Takes: "set",
		Traits: lb.Traits{Leased: true},
	}
}

// Open connects one client. The driver must not send anything again by itself: a SET NX whose answer was
// lost would find its own value, and be told that the lock is taken.
func (myLock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c := client{env, redis.NewClient(&redis.Options{Addr: env.Servers[0], MaxRetries: -1, ReadTimeout: env.TTL,
		ContextTimeoutEnabled: true, DisableIdentity: true})}
	return lb.Again(lb.Exclusive(c)), c.rdb.Ping(ctx).Err()
}

type client struct {
	env *lb.Env
	rdb *redis.Client
}

// Acquire asks until it gets the lock or ctx ends. A lease counts from before the request was sent: its
// answer may take as long as it likes.
func (c client) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		sent := c.env.Clock.Mono()
		var got bool
		err := c.env.Send(ctx, req, "set", func(ctx context.Context) (err error) {
			if got, err = c.rdb.SetNX(ctx, req.Lock, req.Owner, c.env.TTL).Result(); err == nil && !got {
				return lb.ErrHeld
			}
			return err
		})
		if err != nil {
			return nil, lb.Unsent(err)
		}
		return c.env.Grant(req, 0, c.env.Validity(sent)), nil
	})
}

var compareAndDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

func (c client) Release(ctx context.Context, req lb.Request) error {
	return c.env.Send(ctx, req, "del", func(ctx context.Context) error {
		n, err := compareAndDelete.Eval(ctx, c.rdb, []string{req.Lock}, req.Owner).Int64()
		if err == nil && n == 0 {
			return lb.ErrLost
		}
		return err
	})
}

func (c client) Close() error { return c.rdb.Close() }
