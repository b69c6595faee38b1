package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// replica is the master on the first host and replicas of it on the others.
func replica(self lab.Host, all []lab.Host) lab.Program {
	p := program(self, all)
	p.Argv = append(p.Argv, "--repl-diskless-sync-delay", "0", "--repl-timeout", "2")
	if self.Name() == all[0].Name() {
		return p
	}
	p.Argv = append(p.Argv, "--replicaof", all[0].Addr(), strconv.Itoa(p.Port))
	p.Ready = func(ctx context.Context, endpoint string) error {
		return ask(endpoint, soon, func(c *redis.Client) error {
			info, err := c.Info(ctx, "replication").Result()
			if err == nil && !strings.Contains(info, "master_link_status:up") {
				err = errors.New("not yet in step with its master")
			}
			return err
		})
	}
	return p
}

// sentinelMaster is what the Sentinels of a lab call the master that they watch.
const sentinelMaster = lb.Prefix

// sentinelProgram watches the master on the first host. Its limits are short, so
// that a promotion takes a second or two and not half a minute.
func sentinelProgram(_ lab.Host, all []lab.Host) lab.Program {
	const quorum, replicas, sentinels = 2, 2, 2
	config := []string{
		"bind {addr}", "port {port}", "protected-mode no", "dir {dir}",
		fmt.Sprintf("sentinel monitor %s %s 6379 %d", sentinelMaster, all[0].Addr(), quorum),
		"sentinel down-after-milliseconds " + sentinelMaster + " 500",
		"sentinel failover-timeout " + sentinelMaster + " 3000",
		"sentinel parallel-syncs " + sentinelMaster + " 2",
	}
	return lab.Program{
		Argv:  []string{"redis-server", "{dir}/sentinel.conf", "--sentinel"},
		Files: map[string]string{"sentinel.conf": strings.Join(config, "\n") + "\n"},
		Port:  26379,
		// Only a Sentinel that knows the replicas and the others can promote one.
		Ready: func(ctx context.Context, endpoint string) error {
			c := redis.NewSentinelClient(&redis.Options{Addr: endpoint, MaxRetries: -1})
			defer c.Close()
			master, err := c.Master(ctx, sentinelMaster).Result()
			if err != nil {
				return err
			}
			if master["num-slaves"] != strconv.Itoa(replicas) || master["num-other-sentinels"] != strconv.Itoa(sentinels) {
				return fmt.Errorf("knows %s replicas and %s other sentinels", master["num-slaves"], master["num-other-sentinels"])
			}
			return nil
		},
	}
}

// leads reports whether the server is a master.
func leads(ctx context.Context, endpoint string) (leads bool, err error) {
	err = ask(endpoint, soon, func(c *redis.Client) error {
		info, err := c.Info(ctx, "replication").Result()
		leads = strings.Contains(info, "role:master")
		return err
	})
	return leads, err
}

// clock reads the server's clock.
func clock(ctx context.Context, endpoint string) (now time.Time, err error) {
	err = ask(endpoint, patient, func(c *redis.Client) error {
		now, err = c.Time(ctx).Result()
		return err
	})
	return now, err
}

// sweep asks for all keys, and so for those that are over, which the server then drops.
func sweep(ctx context.Context, endpoint string) error {
	return ask(endpoint, patient, func(c *redis.Client) error {
		all := c.Scan(ctx, 0, "", 1000).Iterator()
		for all.Next(ctx) {
		}
		return all.Err()
	})
}

// Who asks a server that may be down or frozen goes on soon; who has to know waits.
const (
	soon    = 500 * time.Millisecond
	patient = 5 * time.Second
)

func ask(endpoint string, bound time.Duration, ask func(*redis.Client) error) error {
	c := redis.NewClient(&redis.Options{Addr: endpoint, MaxRetries: -1, DialTimeout: bound, ReadTimeout: bound, PoolSize: 2})
	defer c.Close()
	return ask(c)
}
