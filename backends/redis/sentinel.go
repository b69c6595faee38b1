package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// sentinelCommands are what people do to a Sentinel.
var sentinelCommands = map[lab.Operation]lab.Command{
	lab.FailOver:      sentinelFailOver,
	lab.SentinelReset: sentinelReset,
}

// sentinelFailOver has a replica promoted as if the master could not be reached, without the
// consent of the other Sentinels.
func sentinelFailOver(ctx context.Context, at lab.Target) (lab.Effect, error) {
	return lab.Effect{Count: 1, Told: "ordered a failover"}, askSentinel(at, func(c *redis.SentinelClient) error {
		return c.Failover(ctx, sentinelMaster).Err()
	})
}

// sentinelReset makes the Sentinel forget the replicas and the other Sentinels, which it
// then has to find anew.
func sentinelReset(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = askSentinel(at, func(c *redis.SentinelClient) error {
		before, err := knownTo(ctx, c)
		if err != nil {
			return err
		}
		if err := c.Reset(ctx, sentinelMaster).Err(); err != nil {
			return err
		}
		e = lab.Effect{Count: before, Told: fmt.Sprintf("forgot the %d others that it knew", before)}
		return nil
	})
	return e, err
}

// sentinelNames is the endpoint of the master of that name, as the Sentinel knows it.
func sentinelNames(ctx context.Context, endpoint, name string) (master string, err error) {
	err = askSentinel(lab.Target{Endpoint: endpoint}, func(c *redis.SentinelClient) error {
		addr, err := c.GetMasterAddrByName(ctx, name).Result()
		if err == nil && len(addr) == 2 {
			master = net.JoinHostPort(addr[0], addr[1])
		}
		return err
	})
	return master, err
}

// knownTo is how many replicas and other Sentinels it knows.
func knownTo(ctx context.Context, c *redis.SentinelClient) (n int, err error) {
	master, err := c.Master(ctx, sentinelMaster).Result()
	for _, field := range []string{"num-slaves", "num-other-sentinels"} {
		some, e := strconv.Atoi(master[field])
		n, err = n+some, errors.Join(err, e)
	}
	return n, err
}

func askSentinel(at lab.Target, ask func(*redis.SentinelClient) error) error {
	c := redis.NewSentinelClient(&redis.Options{Addr: at.Endpoint, MaxRetries: -1})
	defer c.Close()
	return ask(c)
}
