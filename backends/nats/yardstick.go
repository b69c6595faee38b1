package nats

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// Yardstick is a ping; a value and the marker that it is gone.
func Yardstick(ctx context.Context, endpoint string) (*lab.Yardstick, error) {
	const patient = 5 * time.Second
	c, err := Dial([]string{endpoint}, patient)
	if err != nil {
		return nil, err
	}
	// One in the middle of a cluster can't say how many there are. As many replicas as can be are what locks have there.
	servers := 1 + len(c.DiscoveredServers())
	if err := Bucket(ctx, c, servers, 0); err != nil {
		c.Close()
		return nil, err
	}
	kv := KV{c, BucketName(0)}
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, patient)
			defer cancel()
			return c.FlushWithContext(ctx) // which wants an end
		},
		Writes: func(ctx context.Context) error {
			at, err := kv.Put(ctx, lab.YardKey, "1", Any, 0)
			if err == nil {
				err = kv.Delete(ctx, lab.YardKey, at)
			}
			return err
		},
		Close: c.Close,
	}, nil
}
