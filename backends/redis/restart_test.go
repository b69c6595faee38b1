package redis_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	goredis "github.com/redis/go-redis/v9"
)

// TestRoleStays: a replica that a Sentinel has promoted, and told to write that down, is a master after its restart. One
// whose disk is lost begins as it was started.
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
	must(t, c.ReplicaOf(t.Context(), "NO", "ONE").Err(), c.ConfigRewrite(t.Context()).Err(), c.Close())
	for _, step := range []struct {
		empty bool
		want  string
	}{{false, "master"}, {true, "slave"}} {
		must(t, s.Kill(t.Context()), s.Restart(t.Context(), step.empty))
		if got := role(); got != step.want {
			t.Errorf("restarted, its disk lost: %v, it is a %s, want %s", step.empty, got, step.want)
		}
	}
}
