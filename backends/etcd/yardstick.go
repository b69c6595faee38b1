package etcd

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/lab"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Yardstick is a serializable get of a key that is not there; put and delete.
func Yardstick(ctx context.Context, endpoint string) (*lab.Yardstick, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop(), DialTimeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	if _, err := c.Get(ctx, lab.YardKey); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error {
			_, err := c.Get(ctx, lab.YardKey, clientv3.WithSerializable())
			return err
		},
		Writes: func(ctx context.Context) error {
			_, err := c.Put(ctx, lab.YardKey, "1")
			if err == nil {
				_, err = c.Delete(ctx, lab.YardKey)
			}
			return err
		},
		Close: func() { _ = c.Close() },
	}, nil
}
