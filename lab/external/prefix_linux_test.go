package external

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestPrefix: whatever any lock keeps on a server, also of one who is gone, begins with the
// prefix, and so does nothing of anybody else.
func TestPrefix(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	for topology, names := range map[string]func(t *testing.T, server string) []string{
		"redis": redisNames, "redis-5": redisNames, "etcd": etcdNames, "zookeeper": zookeeperNames, "mariadb": mariadbNames,
	} {
		t.Run(topology, func(t *testing.T) {
			servers := labtest.Endpoints(labtest.Servers(t, topology))
			before := map[string]bool{}
			for _, name := range names(t, servers[0]) {
				before[name] = true
			}
			used := 0
			for _, impl := range impls.All() {
				if impl.Info().Topologies[0] == topology {
					use(t, impl, servers)
					used++
				}
			}
			kept := 0
			for _, name := range names(t, servers[0]) {
				switch {
				case before[name]:
				case strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "/locks"), "/"), lb.Prefix):
					kept++
				default:
					t.Errorf("%q is not under the prefix", name)
				}
			}
			if used < 2 || kept == 0 {
				t.Errorf("%d locks were used, and %d names kept", used, kept)
			}
		})
	}
}

// use has one client give a lock back, and leaves another that holds one, and a third that
// waits for it.
func use(t *testing.T, impl lb.Impl, servers []string) {
	t.Helper()
	const ttl = 4 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n, owner := range []string{"first", "second", "third"} {
		env := &lb.Env{Client: owner, Servers: servers, TTL: ttl, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, uint64(n)))}
		c, err := impl.Open(ctx, env)
		if err != nil {
			t.Fatalf("%s: %v", impl.Info().Name, err)
		}
		t.Cleanup(func() { _ = c.Close() })
		req := lb.Request{Lock: lb.Prefix + ":lock-of-" + impl.Info().Name, Owner: owner}
		patience := 5 * time.Second
		if owner == "third" {
			patience = 50 * time.Millisecond
		}
		waiting, giveUp := context.WithTimeout(ctx, patience)
		_, err = c.Acquire(waiting, req)
		giveUp()
		if owner == "first" {
			if err != nil {
				t.Fatalf("%s: %v", impl.Info().Name, err)
			}
			_ = c.Release(ctx, req) // what it says is not the point here, nor whether the next one gets it
		}
	}
}

func redisNames(t *testing.T, server string) []string {
	c := redis.NewClient(&redis.Options{Addr: server})
	defer c.Close()
	channels, err := c.PubSubChannels(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return append(c.Keys(t.Context(), "*").Val(), channels...)
}

func etcdNames(t *testing.T, server string) (names []string) {
	c := etcdAt(t, server)
	defer c.Close()
	got, err := c.Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range got.Kvs {
		names = append(names, string(kv.Key))
	}
	return names
}

func zookeeperNames(t *testing.T, server string) []string {
	c, _, err := zk.Connect([]string{server}, 5*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	names, _, err := c.Children("/")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func mariadbNames(t *testing.T, server string) (names []string) {
	db := mysqlAt(t, server)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}
