package redis

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/lab"
)

// master asks a Sentinel for the master of the name.
func master(ctx context.Context, r lab.Relay, name string) (addr string, err error) {
	c := redis.NewSentinelClient(options(r))
	defer c.Close()
	at, err := c.GetMasterAddrByName(ctx, name).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", fmt.Errorf("it knows no master called %q", name)
	case err != nil:
		return "", err
	}
	return net.JoinHostPort(at[0], at[1]), nil
}
