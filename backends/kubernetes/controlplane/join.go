package controlplane

import (
	"context"
	"net"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// awaitFirst returns when some kube-apiserver has made the service that every cluster has. Of several that make it together one
// may find its address taken, and is not ready for a minute then: people join one machine after the other.
func awaitFirst(ctx context.Context, host string) error {
	const service = "/registry/services/specs/default/kubernetes"
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{net.JoinHostPort(host, strconv.Itoa(StorePort))}, Context: ctx, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		if found, err := c.Get(ctx, service, clientv3.WithCountOnly()); err == nil && found.Count > 0 {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
