package redisconn

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// TestCluster: a client goes where the key is, and follows it; what was not answered it does not ask again.
func TestCluster(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 3)
	servers := labtest.Servers(t, "redis-cluster")
	c, err := DialCluster(t.Context(), &lb.Env{Servers: append([]string{"127.0.0.1:1"}, labtest.Endpoints(servers)...), TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	set := func(key string) error {
		ctx, cancel := context.WithTimeout(t.Context(), ttl/2)
		defer cancel()
		_, err := Ask(ctx, func(ctx context.Context) (bool, error) { return c.SetNX(ctx, key, "me", 0).Result() })
		return err
	}
	for _, key := range []string{"a", "b", "c", "d", "lock"} { // of all masters
		if err := set(key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := servers[0].Operate(t.Context(), lab.FailOver, ""); err != nil {
		t.Fatal(err)
	}
	for range 20 { // some of them when another master has the key
		if err := set("lock"); err != nil {
			t.Errorf("after another master has it: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := servers[3].Signal(syscall.SIGSTOP); err != nil { // which has it now
		t.Fatal(err)
	}
	asked := time.Now()
	err = set("lock")
	var said redis.Error
	if took := time.Since(asked); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &said) || took > ttl {
		t.Errorf("a master that does not answer: %v, after %v", err, took)
	}
	if errors.Is(Refused(err), lb.ErrNoEffect) {
		t.Errorf("it may have been done: %v", err)
	}
	for begin := time.Now(); set("lock") != nil; { // until its replica has its place
		if time.Since(begin) > 30*time.Second {
			t.Fatal("nobody has taken its place")
		}
	}
	if err := servers[3].Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
