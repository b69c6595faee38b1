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

// Dial connects one client to all servers of env. It is also for locks of others
// that are built on etcd.
func Dial(ctx context.Context, env *lb.Env) (*clientv3.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("etcd: the run has no server")
	}
	c, err := clientv3.New(clientv3.Config{
		Endpoints:            env.Servers,
		DialTimeout:          env.TTL,
		DialKeepAliveTime:    env.TTL,
		DialKeepAliveTimeout: env.TTL,
		Logger:               zap.NewNop(),
		DialOptions:          []grpc.DialOption{grpc.WithChainUnaryInterceptor(interceptMoves)},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: connect to %v: %w", env.Servers, err)
	}
	if _, err := c.Get(ctx, "ready"); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("etcd: connect to %v: %w", env.Servers, err)
	}
	return c, nil
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
	return compose.OnMonotonicClock(compose.OnQuorum(base), "etcd")
}
