package etcd

import (
	"context"
	"errors"
	"strconv"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// end revokes the lease.
func end(ctx context.Context, endpoint, session string) (knew bool, err error) {
	id, err := strconv.ParseInt(session, 16, 64)
	if err != nil {
		return false, err
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Context: ctx, Logger: zap.NewNop()})
	if err != nil {
		return false, err
	}
	defer c.Close()
	_, err = c.Revoke(ctx, clientv3.LeaseID(id))
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return false, nil
	}
	return err == nil, err
}
