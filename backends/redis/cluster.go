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

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/lab"
)

// A cluster of six. A replica stands right behind the master of another part, so that the first two servers never are two
// masters: the first is cut off together with the second where servers are halved, and most masters are to be on the other side.
const (
	clusterServers = 6
	masters        = clusterServers / 2
	slots          = 16384 // of all clusters
)

// masterAt is where the servers have the master of each part, and replicaAt its replica.
var masterAt, replicaAt = [masters]int{0, 2, 4}, [masters]int{3, 1, 5}

// DefaultLock is the lock whose master is the one that leads: each part of a cluster has a master of its own, and clients
// that are told nothing else are all about this lock. Others are spread over all masters.
const DefaultLock = "lock"

// sameSlot is what a key of lockbench's own ends with, for that master to keep it.
const sameSlot = "{" + DefaultLock + "}"

// clustered is a kind of servers of a cluster.
func clustered() lab.Kind {
	k := server("redis-cluster", clusterProgram)
	k.Grows = true // the log has every write
	k.Join, k.Leads, k.Follows, k.Replace = join, answersForLock, follows, replaceMember
	// Two or three seconds; but a replica that hears first that its master is dead asks masters that do not know it yet, is
	// refused, and asks again four seconds later (redis issue 7395).
	k.Elects = 8 * time.Second
	k.Commands, k.Yardstick = withClusterFailover(), clusterYardstick
	k.Guest = nil // whose addresses its servers tell, clients would go past those who stand for them
	return k
}

// clusterProgram is a server as the tutorial of Redis Cluster has it, which logs what it writes, but for how soon one is taken
// for dead: after a second instead of five. A replica may have lost its master for as long as by default, ten times fifteen
// seconds, and take its place.
func clusterProgram(self lab.Host, all []lab.Host) lab.Program {
	p := program(self, all)
	p.Argv = append(p.Argv, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "1000",
		"--cluster-replica-validity-factor", "150", "--cluster-announce-ip", self.Addr(), "--replica-announce-ip", self.Addr(), "--appendonly", "yes",
		"--repl-diskless-sync-delay", "0", "--repl-timeout", "2", "--repl-ping-replica-period", "1")
	p.Ready = inCluster
	return p
}

// inCluster fails unless the server is one of a cluster that works, or knows nobody, as before it has joined one.
func inCluster(ctx context.Context, endpoint string) error {
	return ask(endpoint, soon, func(c *redis.Client) error {
		info, err := clusterInfo(ctx, c)
		if err != nil || info["cluster_known_nodes"] == "1" {
			return err
		}
		if state := info["cluster_state"]; state != "ok" {
			return fmt.Errorf("to it the state of the cluster is %q", state)
		}
		return linked(ctx, endpoint)
	})
}

// linked fails where a replica is not in step with its master.
func linked(ctx context.Context, endpoint string) error {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return err
	}
	return inStep(ctx, host, endpoint)
}

func clusterInfo(ctx context.Context, c *redis.Client) (map[string]string, error) {
	text, err := c.ClusterInfo(ctx).Result()
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			all[name] = value
		}
	}
	return all, err
}

// join makes a cluster of servers that do not know each other, as "redis-cli --cluster create" does, and returns
// when all of them say that it works. The first keeps [DefaultLock].
func join(ctx context.Context, endpoints []string) error {
	all := make([]*redis.Client, len(endpoints))
	for i, at := range endpoints {
		all[i] = redis.NewClient(&redis.Options{Addr: at, MaxRetries: -1, DialTimeout: patient, ReadTimeout: patient, PoolSize: 1})
		defer all[i].Close()
	}
	if len(all) != clusterServers {
		return fmt.Errorf("a cluster is made of %d servers here, and there are %d", clusterServers, len(all))
	}
	slot, err := all[0].ClusterKeySlot(ctx, DefaultLock).Result()
	if err != nil {
		return err
	}
	first := int(slot) * masters / slots // the part that it is in
	for i := range masters {
		part, one := (first+i)%masters, all[masterAt[i]]
		from, to := (part*slots+masters-1)/masters, ((part+1)*slots+masters-1)/masters-1
		if err := one.ClusterAddSlotsRange(ctx, from, to).Err(); err != nil {
			return fmt.Errorf("give %s the slots %d to %d: %w", endpoints[masterAt[i]], from, to, err)
		}
	}
	for i, at := range endpoints {
		// Each has a number of its own from the beginning, or they would have to agree on one.
		if err := all[i].Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return fmt.Errorf("number %s: %w", at, err)
		}
	}
	if err := introduce(ctx, all, endpoints); err != nil {
		return err
	}
	for i := range masters {
		id, err := all[masterAt[i]].ClusterMyID(ctx).Result()
		if err != nil {
			return err
		}
		replica := all[replicaAt[i]]
		if err := until(ctx, func() error { return replica.ClusterReplicate(ctx, id).Err() }); err != nil { // it has to hear of it first
			return fmt.Errorf("have %s follow %s: %w", endpoints[replicaAt[i]], endpoints[masterAt[i]], err)
		}
	}
	for i, at := range endpoints {
		if err := until(ctx, func() error { return agreed(ctx, all[i], at) }); err != nil {
			return fmt.Errorf("join the cluster: %s: %w", at, err)
		}
	}
	return nil
}

// introduce has the first of the servers meet all others, from which these hear of each other. A greeting that takes longer
// than the time after which a server is dead is forgotten by one side, perhaps, and remembered by the other, which then
// greets it no more (valkey issue 1251): so whoever has not heard of somebody for long enough greets again.
func introduce(ctx context.Context, all []*redis.Client, endpoints []string) error {
	const patience = 3 * time.Second
	for first := true; ; first = false {
		for i, c := range all {
			if i > 0 && first {
				break
			}
			missing, err := strangers(ctx, c, endpoints)
			if err != nil {
				return err
			}
			for _, at := range missing {
				host, port, err := net.SplitHostPort(at)
				if err != nil {
					return err
				}
				if err := c.ClusterMeet(ctx, host, port).Err(); err != nil {
					return fmt.Errorf("introduce %s to %s: %w", at, endpoints[i], err)
				}
			}
		}
		round, cancel := context.WithTimeout(ctx, patience)
		err := until(round, func() error {
			for i, c := range all {
				missing, err := strangers(ctx, c, endpoints)
				if err != nil || len(missing) > 0 {
					return errors.Join(fmt.Errorf("%s does not know %s", endpoints[i], strings.Join(missing, ", ")), err)
				}
			}
			return nil
		})
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// strangers are those of the endpoints that the server does not know.
func strangers(ctx context.Context, c *redis.Client, endpoints []string) ([]string, error) {
	known, err := members(ctx, c)
	missing := slices.DeleteFunc(slices.Clone(endpoints), func(at string) bool {
		return slices.ContainsFunc(known, func(m member) bool { return m.endpoint == at && !m.is("handshake") })
	})
	return missing, err
}

// agreed fails unless the server knows a master and a replica of each part, and can serve.
func agreed(ctx context.Context, c *redis.Client, endpoint string) error {
	all, err := members(ctx, c)
	if err != nil {
		return err
	}
	parts, followed := 0, map[string]bool{}
	for _, m := range all {
		if m.slots {
			parts++
		}
		if m.master != "" {
			followed[m.master] = true
		}
	}
	if len(all) != clusterServers || parts != masters || len(followed) != masters {
		return fmt.Errorf("knows %d servers, %d masters and %d that have a replica", len(all), parts, len(followed))
	}
	return inCluster(ctx, endpoint)
}

// until tries until it succeeds. What it fails by in the end is not that its time was over.
func until(ctx context.Context, try func() error) (err error) {
	for {
		failed := try()
		if failed == nil {
			return nil
		}
		if ctx.Err() == nil {
			err = failed
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// answersForLock reports whether the server leads: it is the master that has [DefaultLock]. A replica and another master
// name that one, and a master that is cut off from most others says after a while that the cluster is down.
func answersForLock(ctx context.Context, endpoint string) (leads bool, err error) {
	err = ask(endpoint, soon, func(c *redis.Client) error {
		err := c.Exists(ctx, DefaultLock).Err()
		leads = err == nil
		if said := redis.Error(nil); errors.As(err, &said) {
			return nil
		}
		return err
	})
	return leads, err
}

// follows is the endpoint of the master that the server copies, "" if it is one itself.
func follows(ctx context.Context, endpoint string) (master string, err error) {
	info, err := replication(ctx, endpoint)
	if err != nil || info["role"] == "master" {
		return "", err
	}
	return net.JoinHostPort(info["master_host"], info["master_port"]), nil
}

// withClusterFailover are the commands of every Redis server, and the one by which a replica takes its master's place.
func withClusterFailover() map[lab.Operation]lab.Command {
	all := map[lab.Operation]lab.Command{lab.FailOver: clusterFailOver}
	for name, command := range commands {
		all[name] = command
	}
	return all
}

// clusterFailOver has a replica of the server take its place: the master stops, hands over what it has left, and follows.
func clusterFailOver(ctx context.Context, at lab.Target) (lab.Effect, error) {
	info, err := replication(ctx, at.Endpoint)
	if err != nil {
		return lab.Effect{}, err
	}
	n, _ := strconv.Atoi(info["connected_slaves"])
	if n == 0 {
		return lab.Effect{}, errors.New("it has no replica that could take its place")
	}
	one := map[string]string{}
	for field := range strings.SplitSeq(info["slave0"], ",") {
		name, value, _ := strings.Cut(field, "=")
		one[name] = value
	}
	replica := net.JoinHostPort(one["ip"], one["port"])
	return lab.Effect{Count: 1, Told: "was to hand over to " + replica}, ask(replica, patient, func(c *redis.Client) error {
		return c.ClusterFailover(ctx).Err()
	})
}

// clusterYardstick is [Yardstick] with a key of the first server's.
func clusterYardstick(_ context.Context, endpoint string) (*lab.Yardstick, error) {
	return yardstick(endpoint, lab.YardKey+sameSlot), nil
}
