package lab

import (
	"context"
	"net"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// etcdReady makes a linearizable read, which only a member of a cluster with a
// leader can answer.
func etcdReady(ctx context.Context, endpoint string) error {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{endpoint}, Context: ctx, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithDisableRetry()},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Get(ctx, "ready")
	return err
}

// Listening is ready when something accepts connections at the endpoint.
func Listening(ctx context.Context, endpoint string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return err
	}
	return c.Close()
}
