package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// config is the file of a server that Sentinels command. They have it written whom it follows, so that a server
// that is started again goes on as what it was: with the role of its first start it could follow a server that
// follows it, and both would be out of step until the Sentinels take the master for dead.
const config = "redis.conf"

// replica is the master on the first host and replicas of it on the others.
func replica(self lab.Host, all []lab.Host) lab.Program {
	p := program(self, all)
	p.Argv = slices.Insert(p.Argv, 1, "{dir}/"+config)
	p.Seeds = map[string]string{config: ""}
	// What a fault has set is written into the file by whoever has it written meanwhile, and is gone after a restart all the same.
	p.Argv = append(p.Argv, "--maxmemory", "0", "--maxmemory-policy", "noeviction", "--timeout", "0", "--notify-keyspace-events", "")
	// A master that is silent for as long as the limit is one that is gone: it speaks twice in that time.
	p.Argv = append(p.Argv, "--repl-diskless-sync-delay", "0", "--repl-timeout", "2", "--repl-ping-replica-period", "1")
	p.Argv = append(p.Argv, "--replica-announce-ip", self.Addr())
	if self.Name() != all[0].Name() {
		p.Seeds[config] = fmt.Sprintf("replicaof %s %d\n", all[0].Addr(), p.Port)
	}
	p.Ready = func(ctx context.Context, endpoint string) error {
		if err := ready(ctx, endpoint); err != nil { // one that is loading says already which role it has
			return err
		}
		return inStep(ctx, self.Addr(), endpoint)
	}
	return p
}

// inStep fails unless a server is a master, or a replica that follows its master, and has told it how far: before, which
// is for up to a second, the master calls it online, and sends it nothing.
func inStep(ctx context.Context, addr, endpoint string) error {
	info, err := replication(ctx, endpoint)
	if err != nil {
		return err
	}
	if info["role"] == "master" {
		return nil
	}
	if info["master_link_status"] != "up" {
		return errors.New("not yet in step with its master")
	}
	master, err := replication(ctx, net.JoinHostPort(info["master_host"], info["master_port"]))
	if err != nil {
		return fmt.Errorf("its master: %w", err)
	}
	for name, follower := range master {
		if strings.HasPrefix(name, "slave") && strings.HasPrefix(follower, "ip="+addr+",") &&
			strings.Contains(follower, ",state=online,") && !strings.Contains(follower, ",offset=0,") {
			return nil
		}
	}
	return errors.New("has not yet told its master how far it is")
}

// replication is what a server says of its part in it.
func replication(ctx context.Context, endpoint string) (info map[string]string, err error) {
	err = ask(endpoint, soon, func(c *redis.Client) error {
		all, err := c.InfoMap(ctx, "replication").Result()
		info = all["Replication"]
		return err
	})
	return info, err
}

// sentinelMaster is what the Sentinels of a lab call the master that they watch.
const sentinelMaster = lb.Prefix

// sentinelProgram watches the master on the first host. Its limits are short, so
// that a promotion takes a second or two and not half a minute.
func sentinelProgram(_ lab.Host, all []lab.Host) lab.Program {
	const quorum, replicas, sentinels = 2, 2, 2
	watch := []string{
		"bind {addr}", "port {port}", "protected-mode no", "dir {dir}",
		fmt.Sprintf("sentinel monitor %s %s 6379 %d", sentinelMaster, all[0].Addr(), quorum),
		"sentinel down-after-milliseconds " + sentinelMaster + " 500",
		"sentinel failover-timeout " + sentinelMaster + " 3000",
		"sentinel parallel-syncs " + sentinelMaster + " 2",
	}
	return lab.Program{
		Argv:  []string{"redis-server", "{dir}/sentinel.conf", "--sentinel"},
		Seeds: map[string]string{"sentinel.conf": strings.Join(watch, "\n") + "\n"},
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
	info, err := replication(ctx, endpoint)
	return info["role"] == "master", err
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
