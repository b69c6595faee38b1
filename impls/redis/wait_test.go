package redis

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

// unwatched is a master with two replicas that no Sentinels watch: who is told of the master by those goes
// around the suite's relays.
func unwatched() lab.Topology {
	top, _ := backends.Topology("redis-sentinel")
	top.Sentinels = 0
	return top
}

// TestWaitConforms holds the lock to what it claims.
func TestWaitConforms(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	top := unwatched()
	row{Wait(), top.Name, 2, 1, nil}.conforms(t, labtest.Endpoints(labtest.ServersOf(t, top)), 1)
}

// TestWaitForMajority: with one of two replicas the lock is granted, and with none it is given back.
func TestWaitForMajority(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	servers := labtest.ServersOf(t, unwatched())
	env := &lb.Env{Servers: labtest.Endpoints(servers), TTL: 2 * time.Second, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
	c, err := Wait().Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	try := func(owner string) error {
		req := lb.Request{Lock: "lock", Owner: owner, Try: true}
		lease, err := c.Acquire(t.Context(), req)
		if (lease == nil) == (err == nil) {
			t.Fatalf("%v and %v", lease, err)
		}
		if err == nil {
			err = c.Release(t.Context(), req)
		}
		return err
	}
	// A replica has a tenth of a lease to say that it has the lock, and a busy machine may keep it from that for longer.
	granted := func(owner string) (err error) {
		for range 50 {
			if err = try(owner); !errors.Is(err, lb.ErrNoEffect) {
				break
			}
		}
		return err
	}
	if err := granted("both replicas"); err != nil {
		t.Error(err)
	}
	for i, attempt := range []func(string) error{granted, try} {
		want := []error{nil, lb.ErrNoEffect}[i]
		replica := servers[1+i]
		if err := replica.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = replica.Signal(syscall.SIGCONT) })
		for _, owner := range []string{"first", "second"} { // which finds nothing that the first has left
			if err := attempt(owner); !errors.Is(err, want) {
				t.Errorf("%d replicas stand still, %s: %v, want %v", 1+i, owner, err, want)
			}
		}
	}
}
