package memcached

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/lab"
)

// Yardstick is version; add and delete.
func Yardstick(ctx context.Context, endpoint string) (*lab.Yardstick, error) {
	c, err := Dial(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error { return answers(ctx, c) },
		Writes: func(ctx context.Context) error {
			const minute = 60
			_, added := c.Add(ctx, lab.YardKey, "1", minute)
			_, deleted := c.Delete(ctx, lab.YardKey)
			return errors.Join(added, deleted)
		},
		Close: func() { _ = c.Close() },
	}, nil
}
