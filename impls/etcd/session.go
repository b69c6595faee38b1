// Package etcd holds the lock algorithms on etcd, one a file.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Dial connects one client to all servers of env, with the library's own settings.
// Every request that the client sends passes env, and is for the acquisition that
// [For] says. It is also for locks of others that are built on etcd.
func Dial(ctx context.Context, env *lb.Env) (*clientv3.Client, error) {
	return dial(ctx, env, clientv3.Config{})
}

// dialWatchful connects a client that notices within two TTLs that its connection
// is dead, and takes another server then. The library leaves that to TCP.
func dialWatchful(ctx context.Context, env *lb.Env) (*clientv3.Client, error) {
	return dial(ctx, env, clientv3.Config{DialTimeout: env.TTL, DialKeepAliveTime: env.TTL, DialKeepAliveTimeout: env.TTL})
}

func dial(ctx context.Context, env *lb.Env, config clientv3.Config) (*clientv3.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("etcd: the run has no server")
	}
	d := &door{}
	config.Endpoints, config.Logger = env.Servers, zap.NewNop()
	config.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(d.unary), grpc.WithChainStreamInterceptor(d.stream)}
	c, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("etcd: connect to %v: %w", env.Servers, err)
	}
	if _, err := c.Get(ctx, lb.Prefix+":ready"); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("etcd: connect to %v: %w", env.Servers, err)
	}
	d.env = env // set up: from now on every request counts
	return c, nil
}

// open is a client that has no shared mode, and knows what a release that is sent
// again can't know.
func open(env *lb.Env, c lb.Client) lb.Client {
	return lb.Again(lb.Exclusive(insistent{c, env}))
}

// insistent is a client whose releases are calls of the library, which would take the end of a request's own
// time for a reason to send another.
type insistent struct {
	lb.Client
	env *lb.Env
}

func (c insistent) Release(ctx context.Context, req lb.Request) error {
	ctx, cancel := c.env.Whole(ctx)
	defer cancel()
	return c.Client.Release(ctx, req)
}

// name is a lock's name in etcd: escaped, so that no lock's queue contains
// another's.
func name(lock string) string { return url.PathEscape(lock) }

// prefix is where the keys of the lock's queue are.
func prefix(lock string) string { return name(lock) + "/" }

// seconds is env's TTL as etcd can say it: whole seconds, rounded up.
func seconds(env *lb.Env) int64 { return int64((env.TTL + time.Second - 1) / time.Second) }

// onEtcd adds what etcd itself is good for.
func onEtcd(base []lb.Expectation) []lb.Expectation {
	return compose.Except(compose.OnSession(compose.OnMonotonicClock(compose.OnQuorum(base), "etcd")), compose.KeptAlive(),
		lb.Expectation{Fault: "pause-leader", Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Fence},
			Why: "a leader that was frozen may revoke, as it goes on, leases that its successor has renewed since", Source: "etcd issue 15247, and docs/findings/etcd-frozen-leader.md"})
}
