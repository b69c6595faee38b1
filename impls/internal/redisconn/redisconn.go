// Package redisconn connects one client to its Redis servers in a way that keeps
// the results of lock commands what they are. It knows no algorithm.
package redisconn

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Dial makes a client for each server of env, in order, or, where Sentinels watch
// them, one that follows the master. A majority of the servers must answer: an
// algorithm that bears the loss of the others must also be able to begin without
// them.
func Dial(ctx context.Context, env *lb.Env) ([]*redis.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("redis: the run has no server")
	}
	var nodes []*redis.Client
	if len(env.Sentinels) > 0 {
		nodes = append(nodes, redis.NewFailoverClient(following(env)))
	} else {
		for _, addr := range env.Servers {
			nodes = append(nodes, redis.NewClient(options(env, addr)))
		}
	}
	pings := make(chan error)
	for i := range nodes {
		go func() { pings <- nodes[i].Ping(ctx).Err() }()
	}
	up, err := 0, error(nil)
	for range nodes {
		if e := <-pings; e != nil {
			err = errors.Join(err, e)
		} else {
			up++
		}
	}
	if up <= len(nodes)/2 {
		_ = Close(nodes)
		return nil, fmt.Errorf("redis: connect to %v: %w", env.Servers, err)
	}
	return nodes, nil
}

// options are those of every client. The driver must not retry by itself: a SET NX
// that is sent again after a lost reply finds its own value and reports that the
// lock is taken, while this client holds it.
func options(env *lb.Env, addr string) *redis.Options {
	return &redis.Options{
		Addr:            addr,
		MaxRetries:      -1,
		DialerRetries:   1,
		DialTimeout:     env.TTL,
		ReadTimeout:     env.TTL,
		WriteTimeout:    env.TTL,
		PoolSize:        4, // one for the lock, one for what runs beside it, and as many that were given up
		DisableIdentity: true,

		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// following are the same for a client that asks the Sentinels for the master, and
// moves when they say that there is another.
func following(env *lb.Env) *redis.FailoverOptions {
	o := options(env, "")
	return &redis.FailoverOptions{
		MasterName:      env.Master,
		SentinelAddrs:   env.Sentinels,
		MaxRetries:      o.MaxRetries,
		DialerRetries:   o.DialerRetries,
		DialTimeout:     o.DialTimeout,
		ReadTimeout:     o.ReadTimeout,
		WriteTimeout:    o.WriteTimeout,
		PoolSize:        o.PoolSize,
		DisableIdentity: o.DisableIdentity,

		ContextTimeoutEnabled: o.ContextTimeoutEnabled,
	}
}

// Close closes all clients.
func Close(nodes []*redis.Client) (err error) {
	for _, n := range nodes {
		err = errors.Join(err, n.Close())
	}
	return err
}
