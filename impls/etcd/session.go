// Package etcd holds the lock algorithms on etcd, one a file.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	lb "github.com/lockbench/lockbench"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// dial connects one client to all servers.
func dial(ctx context.Context, env *lb.Env) (*clientv3.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("etcd: the run has no server")
	}
	c, err := clientv3.New(clientv3.Config{
		Endpoints:            env.Servers,
		DialTimeout:          env.TTL,
		DialKeepAliveTime:    env.TTL,
		DialKeepAliveTimeout: env.TTL,
		Logger:               zap.NewNop(),
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

// prefix is where the keys of a lock's queue are. The name is escaped, so that no
// lock's queue contains another's.
func prefix(lock string) string { return url.PathEscape(lock) + "/" }

// seconds is env's TTL as etcd can say it: whole seconds, rounded up.
func seconds(env *lb.Env) int64 { return int64((env.TTL + time.Second - 1) / time.Second) }
