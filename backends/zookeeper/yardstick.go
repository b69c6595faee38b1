package zookeeper

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/lockbench/lockbench/lab"
)

// Yardstick is exists, of a node that is not there; create ephemeral and sequential, and
// delete.
func Yardstick(ctx context.Context, endpoint string) (*lab.Yardstick, error) {
	c, events, err := zk.Connect([]string{endpoint}, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	if err != nil {
		return nil, err
	}
	for state := zk.StateUnknown; state != zk.StateHasSession; {
		select {
		case e := <-events:
			state = e.State
		case <-ctx.Done():
			c.Close()
			return nil, ctx.Err()
		}
	}
	go func() {
		for range events { // nobody wants the others
		}
	}()
	return &lab.Yardstick{
		Floor: func(context.Context) error {
			_, _, err := c.Exists("/" + lab.YardKey)
			return err
		},
		Writes: func(context.Context) error {
			path, err := c.Create("/"+lab.YardKey+"-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
			if err != nil {
				return err
			}
			return c.Delete(path, -1)
		},
		Close: c.Close,
	}, nil
}
