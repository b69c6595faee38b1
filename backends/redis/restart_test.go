package redis_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	goredis "github.com/redis/go-redis/v9"
)

// TestRoleStays: a replica that was promoted, and told to write that down, as Sentinels do it, is a master after its
// restart, also one whose disk is lost: its configuration is not on that. What a fault had set is gone.
func TestRoleStays(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	top, _ := backends.Topology("redis-sentinel")
	top.Sentinels = 0 // which would interfere
	s := labtest.ServersOf(t, top)[1]
	role := func() string {
		t.Helper()
		c := goredis.NewClient(&goredis.Options{Addr: s.Endpoint()})
		defer c.Close()
		info, err := c.Info(t.Context(), "replication").Result()
		must(t, err)
		_, after, _ := strings.Cut(info, "role:")
		return strings.Fields(after)[0]
	}
	if got := role(); got != "slave" {
		t.Fatalf("it begins as %s", got)
	}
	c := goredis.NewClient(&goredis.Options{Addr: s.Endpoint()})
	must(t, c.ConfigSet(t.Context(), "maxmemory", "1").Err(), c.ReplicaOf(t.Context(), "NO", "ONE").Err(), c.ConfigRewrite(t.Context()).Err(), c.Close())
	for _, empty := range []bool{false, true} {
		must(t, s.Kill(t.Context()), s.Restart(t.Context(), empty))
		if got := role(); got != "master" {
			t.Errorf("restarted, its disk lost: %v, it is a %s", empty, got)
		}
		c := goredis.NewClient(&goredis.Options{Addr: s.Endpoint()})
		must(t, c.Set(t.Context(), "k", "v", 0).Err(), c.Close())
	}
}
